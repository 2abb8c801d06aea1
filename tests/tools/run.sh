#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# omprma-run's own work, with stand-ins for program and worker: statuses, streams, words, errors.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
build_stand_ins
export TMPDIR=$folder/tmp
mkdir "$TMPDIR"

# status WANTED WHAT...: the program's status comes back, on stderr nothing but our own lines.
status() {
    local wanted=$1
    shift
    timeout 60 "$RUN" "$folder/program" "$@" >"$folder/out" 2>"$folder/err"
    check "status of $*" "$?" "$wanted"
    check "stderr of $*" "$(grep -v '^omprma: ' "$folder/err")" ''
}
status 0 plain
status 3 plain 3
status 0 _exit 0
status 4 _exit 4
status 139 raise 11
status 134 raise 6
status 137 raise 9
status 7 early 7
status 125 early 0
check 'line for no offloading' "$(grep -c 'without offloading anything' "$folder/err")" 1
OMP_TARGET_OFFLOAD=disabled status 0 early 0

out=$("$RUN" -n 2 "$folder/program" words : -n 'a b' --data x)
check 'words' "$out" $'ready 3\n[:][-n][a b][--data][x]'
out=$(printf 'one\ntwo' | "$RUN" -- "$folder/program" cat)
check 'stdin' "$out" $'ready 2\none\ntwo'
out=$(cd / && "$RUN" sh -c 'pwd' 2>&1 | tail -n 1)
case $out in
*'not compiled for offloading'*) ;;
*) check 'an ELF program without libomptarget' "$out" 'not compiled for offloading' ;;
esac

# An interpreter may open libraries with target regions, also where only a library of it calls dlopen.
echo 'void interpret(void) {}' >"$folder/python.c"
echo 'void interpret(void); int main(void) { interpret(); }' >"$folder/interpreter.c"
"$CC" -shared -fPIC "$folder/python.c" -o "$folder/libpython9.so"
"$CC" "$folder/interpreter.c" -o "$folder/interpreter" -L"$folder" -lpython9 -Wl,-rpath,"$folder"
out=$("$RUN" "$folder/interpreter" 2>&1)
case $out in
*'without offloading anything'*) ;;
*) check 'an interpreter' "$out" 'without offloading anything' ;;
esac

# fails STATUS PATTERN ARGS...: one line, which holds PATTERN.
fails() {
    local wanted=$1 pattern=$2 out
    shift 2
    out=$(timeout 20 "$RUN" "$@" 2>&1)
    check "status of $*" "$?" "$wanted"
    grep -q -- "$pattern" <<<"$out" || check "line of $*" "$out" "$pattern"
    [ "$(wc -l <<<"$out")" = 1 ] || check "one line of $*" "$out" 'one line'
}
fails 125 'no PROGRAM'
fails 125 '; /bin/true was taken as the value of --trace' --trace /bin/true
fails 125 '--nonsense is not an option; did you mean' --nonsense x
fails 125 '-n 0' -n 0 x
fails 125 'rma=one-sided|two-sided' --data quick x
fails 125 'auto|ucx|rdma' --osc quick x
fails 125 'not a host' --hosts a:b x
fails 125 '/no/file' --hostfile /no/file x
fails 127 'in PATH' nosuchprogram
fails 127 'No such file' ./nosuchprogram
fails 126 'folder' /tmp
fails 126 'not executable' "$folder/program.c"
fails 125 'no such LLVM' --llvm 99 "$folder/program"
fails 125 'auto|omprma|llvm' --runtime own "$folder/program"
fails 125 'neither auto' --llvm /no/folder "$folder/program"
printf '#!/no/such/interpreter\n' >"$folder/no-interpreter"
chmod +x "$folder/no-interpreter"
fails 127 'No such file or directory; its first line asks for /no/such/interpreter$' "$folder/no-interpreter"
printf '#!/bin/sh\r\n' >"$folder/no-interpreter"
fails 127 'carriage return' "$folder/no-interpreter"
TMPDIR=/no/such/folder fails 125 'set TMPDIR' -n 1 "$folder/program"

# Near misses, and what is known from mpirun.
fails 125 'did you mean --stats?' --stas x
fails 125 'did you mean --backends?' -backend cuda x
fails 125 '--worker may be --workers --workers-per-host' --worker 2 x
fails 125 '--cuda takes no value' --cuda=1 x
fails 125 '--data needs a value' --data
fails 125 'OMPRMA_BIND=0' --bind-to core x
fails 125 'more workers than cores' --oversubscribe x
line() { # OPTION...: the command line
    "$RUN" --dry-run --transport mpi "$@" "$folder/program" 2>&1 | sed 's/omprma-[A-Za-z0-9]\{6\}//g'
}
same() { # OURS THEIRS: the same command line
    # shellcheck disable=SC2086 # words
    check "$2" "$(line $2)" "$(line $1)"
}
same '-n 2' '-np 2'
same '-n 2' '--np=2'
same '--hosts a:2,b:2' '-H a:2,b:2'
same '--hosts localhost' '--host localhost'
same '--workers-per-host 2 --hosts a,b' '-N 2 --hosts a,b'
same '--mpi-arg --mca --mpi-arg a --mpi-arg b' '--mca a b'
if [ "$(launcher_name)" != mpiexec.hydra ]; then # which hands all on by itself
    out=$("$RUN" --dry-run --transport mpi --hosts a,b -x WORDS=two "$folder/program" 2>&1)
    check 'a variable for other hosts' "$(grep -cE -- '-x ?[^ ]*WORDS' <<<"$out")" 1
fi
out=$("$RUN" -x WORDS=two "$folder/program" words 2>&1 >/dev/null)
check 'no line of a variable' "$out" ''

# A variable that is mistyped is said once, by omprma-run.
out=$(OMPRMA_STAT=1 "$RUN" -n 2 "$folder/program" words 2>&1)
check 'a mistyped variable' "$out" 'omprma: warning: OMPRMA_STAT is not a setting and is ignored; did you mean OMPRMA_STATS?
ready 3'
# So is an option behind the program.
out=$("$RUN" -n 2 "$folder/program" words --stats 2>&1)
check 'an option behind the program' "$(grep -c 'warning: --stats stands behind the program' <<<"$out")" 1
out=$("$RUN" -n 2 -- "$folder/program" words --stats 2>&1)
check 'a word of the program' "$out" $'ready 3\n[--stats]'
(ulimit -n 24 && fails 125 'only 24 files' -n 2 "$folder/program" && exit $failures) || failures=1
(ulimit -f 5000 && fails 125 'at most 5000 KiB' "$folder/program" && exit $failures) || failures=1
(ulimit -f 0 && "$RUN" "$folder/program" >"$folder/no_room" 2>&1) # not even the line that says so
check 'no room in any file' "$?" 125
mkdir "$folder/gone"
(cd "$folder/gone" && rmdir "$folder/gone" && fails 125 'current folder' "$folder/program" &&
    exit $failures) || failures=1
OMPRMA_INTERNAL_WORKER=/no/worker fails 125 'omprma-worker is missing' "$folder/program"

# A worker without one of its libraries: it ends before MPI has started, which launchers may not see.
echo 'void gone(void) {}' >"$folder/gone.c"
echo 'void gone(void); int main(void) { gone(); }' >"$folder/needs_gone.c"
"$CC" -shared -fPIC "$folder/gone.c" -o "$folder/libgone.so"
"$CC" "$folder/needs_gone.c" -o "$folder/needs_gone" -L"$folder" -lgone
rm "$folder/libgone.so"
out=$(OMPRMA_INTERNAL_WORKER=$folder/needs_gone timeout 20 "$RUN" "$BUILD_DIR/tests/integration/devices" 1 2>&1)
check 'status without a library' "$?" 125
# Open MPI has words of its own for that in the program. These are ours.
check 'lines without a library' "$(grep -c '^omprma' <<<"$out")" 1
grep -qE '^omprma: error: (a )?worker.* (could not start|ended early with status 127);' <<<"$out" ||
    check 'line without a library' "$out" 'a worker could not start, or its status'

# What is not as usual and no obstacle: few files at first, and no remote shell.
out=$(ulimit -S -n 24 && "$RUN" -n 2 "$folder/program" words 2>&1)
check 'a limit that can be raised' "$out" 'ready 3'
mkdir "$folder/path"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v mpirun)" >"$folder/path/mpirun" # hydra looks beside itself
chmod +x "$folder/path/mpirun"
ln -s "$(command -v env)" "$folder/path"
out=$(PATH=$folder/path "$RUN" -n 2 "$folder/program" words 2>&1)
check 'no remote shell' "$out" 'ready 3'
out=$(env -u PATH "$RUN" -n 2 "$folder/program" words 2>&1)
check 'no PATH' "$out" 'ready 3'

# Another MPI's mpirun, one of another version, and a folder that is not Open MPI's.
strange() { # PATTERN, in the last line; PATH
    local out
    out=$(PATH=${2:-$PATH} "$RUN" "$folder/program" words 2>&1)
    check "status with $1" "$?" 125
    check "line with $1" "$(tail -n 1 <<<"$out" | grep -c "^omprma: error: $1")" 1
}
mkdir "$folder/other"
printf '#!/bin/sh\necho "unrecognized argument oversubscribe" >&2\nexit 255\n' >"$folder/other/mpirun"
chmod +x "$folder/other/mpirun"
strange "$folder/other/mpirun is of no MPI library that says its version, .* first in PATH$" \
    "$folder/other"
printf '#!/bin/sh\necho "mpirun (Open MPI) 3.1.6"\n' >"$folder/other/mpirun"
strange "$folder/other/mpirun is of Open MPI 3.1.6, and omprma knows Open MPI 4.1 to 6 .*" "$folder/other"
printf '#!/bin/sh\necho "mpirun (Open MPI) 7.0.0"\n' >"$folder/other/mpirun"
strange "$folder/other/mpirun is of Open MPI 7.0.0, and omprma knows Open MPI 4.1 to 6 .*" "$folder/other"
built=$(mpi_built)
case $built in
MPICH) says='mpirun (Open MPI) 4.1.4' other='Open MPI 4.1.4' ;;
*) says='HYDRA build details: Version: 4.0.2' other='MPICH 4.0.2' ;;
esac
printf '#!/bin/sh\necho "%s"\n' "$says" >"$folder/other/mpirun"
[ -z "$built" ] || strange "$folder/other/mpirun is of $other, but omprma was built for $built; .*" "$folder/other"
[[ $(mpirun --version) != *'(Open MPI) '[45]* ]] || # 6 finds itself
    OPAL_PREFIX=/no/folder strange '.*/mpirun .* OPAL_PREFIX, which is /no/folder$'

# What a site says of where processes go, in a file of Open MPI's: workers go where they are asked to.
mkdir -p "$folder/home/.openmpi"
echo 'otherhost slots=4' >"$folder/others"
for what in "orte_default_hostfile=$folder/others" rmaps_base_no_oversubscribe=1 rmaps=ppr \
    rmaps_base_no_schedule_local=1 hwloc_base_cpu_list=0 ras_base_multiplier=2 rmaps_base_bynode=1 \
    "rmaps_rank_file_path=$folder/others" rmaps_ppr_n_pernode=1 rmaps_base_cpus_per_rank=4; do
    echo "$what" >>"$folder/home/.openmpi/mca-params.conf"
done
out=$(HOME=$folder/home "$RUN" -n 4 "$folder/program" words 2>&1)
check 'settings of a site' "$out" 'ready 5'
out=$(OMPI_MCA_rmaps_base_mapping_policy=ppr:1:node "$RUN" -n 4 "$folder/program" words 2>&1)
check 'a mapping policy of a site' "$out" 'ready 5'

# A libomptarget that is newer than all that are known: omprma's own runtime, through links for this
# run; and the plugin cannot be had.
"$CC" -shared -Wl,-soname,libomptarget.so.99.1 -x c /dev/null -o "$folder/libomptarget.so.99.1"
echo 'int main(void) { return 0; }' | "$CC" -x c - -x none -o "$folder/new" -Wl,--no-as-needed \
    "$folder/libomptarget.so.99.1" "-Wl,-rpath,$folder"
out=$("$RUN" --dry-run "$folder/new")
check 'links for this run' "$(grep -c "LD_LIBRARY_PATH=$TMPDIR/omprma-[^/]*/runtime:" <<<"$out")" 1
check 'links for workers' "$(grep -c "LD_LIBRARY_PATH[= ]$TMPDIR/omprma-[^/]*/images:" <<<"$out")" 1
fails 125 'from 19 on' --runtime llvm "$folder/new"
out=$("$RUN" -v --dry-run "$folder/new" 2>&1)
check 'the choice is told' "$(grep -c "LLVM 99 and uses omprma's OpenMP runtime" <<<"$out")" 1

# What libraries below say does not come into what the program prints.
if [ "$(launcher_name)" != mpiexec.hydra ]; then
    out=$(UCX_LOG_LEVEL=info "$RUN" -n 1 --osc ucx "$folder/program" words 2>"$folder/err")
    check 'the log of UCX' "$out $(grep -c 'UCX  INFO' "$folder/err" | sed 's/^[1-9].*/is there/')" 'ready 2 is there'
fi
out=$("$RUN" --dry-run -n 2 --osc ucx "$folder/program" 'a b')
osc='--mca osc ucx '
[ "$(launcher_name)" != mpiexec.hydra ] || osc=
check 'dry run names all' "$(grep -c -- "mpi[^ ]* .*${osc}.*program 'a b' : .*-n 2 .*rank" <<<"$out")" 1
check 'version' "$("$RUN" --version | grep -c '^omprma-run [0-9]')" 1
check 'help' "$("$RUN" --help=all | grep -c OMPRMA_LANES)" 1

# An MPI library in the program's process that is not the one, by a stand-in that only says so; and a second
# one beside it.
unset OMPRMA_INTERNAL_WORKER
cat >"$folder/real.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <omprma/omprma.h>
int main(int count, char **words)
{
    int code = omprma_init();
    printf("%s\n", code ? omprma_error() : "served");
    fflush(stdout);
    if (count > 1)
        code |= system(words[1]);
    omprma_finalize();
    return code != 0;
}
C
cat >"$folder/claims.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
int MPI_Get_library_version(char *text, int *length)
{
    *length = sprintf(text, "%s", getenv("CLAIM"));
    return 0;
}
C
"$CC" -shared -fPIC "$folder/claims.c" -o "$folder/libclaims.so"
"$CC" -shared -fPIC -x c /dev/null -Wl,-soname,libmpi.so.99 -o "$folder/libmpi.so.99"
real() { # FILE [LIBRARY]
    "$CC" "$folder/real.c" -I "$SOURCE_DIR/include" -Wl,--no-as-needed "${@:2}" -L "$BUILD_DIR/lib" -lomprma \
        "-Wl,-rpath,$BUILD_DIR/lib:$folder" -o "$folder/$1" || exit 1
}
real real
if [ -z "$SANITIZE" ]; then
    "$CC" "$folder/real.c" -I "$SOURCE_DIR/include" -L "$BUILD_DIR/lib" -lomprma -o "$folder/no_rpath" || exit 1
    check 'without an rpath' "$(cd / && timeout 30 "$RUN" "$folder/no_rpath" 2>&1)" served
fi
real claims "$folder/libclaims.so"
real two_mpis "$folder/libmpi.so.99"
refuses() { # PROGRAM PATTERN
    out=$(OMPRMA_MEMORY=64M timeout 30 "$RUN" "$folder/$1" 2>&1)
    check "status of $1 ${CLAIM:-}" "$?" 1
    check "line of $1 ${CLAIM:-}" "$(grep -c "$2" <<<"$out")" 1
    [ "$(grep -c "$2" <<<"$out")" = 1 ] || echo "$out"
}
refuses two_mpis "^two MPI libraries are in this process, /.* and $folder/libmpi.so.99, "
case $built in
MPICH) CLAIM='Open MPI v4.1.4, package' refuses claims '^this process has the MPI library Open MPI v4.1.4, .* for MPICH' ;;
*)
    CLAIM='Open MPI v4.0.7, package' refuses claims '^the MPI library is Open MPI v4.0.7, .*Open MPI 4.1 to 6'
    CLAIM='Open MPI v7.0.0, package' refuses claims '^the MPI library is Open MPI v7.0.0, .*Open MPI 4.1 to 6'
    CLAIM='MPICH Version: 3.9.1' refuses claims \
        "^.*the MPI library \(is \)\?MPICH Version: 3.9.1, but \(omprma was built for Open MPI\|the first mpirun in PATH\)"
    ;;
esac

# One run serves one program: what a script starts after it is told so at once, and what a program
# starts while it is served.
once='serve one program, and that is, or was, process [0-9]*: start each offloading program of a script'
printf '#!/bin/sh\n"%s" && "%s"\necho $?\n' "$folder/real" "$folder/real" >"$folder/two"
chmod +x "$folder/two"
OMPRMA_MEMORY=64M timeout 30 "$RUN" "$folder/two" >"$folder/out" 2>&1
check 'two programs of a script' "$(sed "s/.*$once.*/told/" "$folder/out" | xargs)" 'served told 1'
OMPRMA_MEMORY=64M timeout 30 "$RUN" "$folder/real" "$folder/real" >"$folder/out" 2>&1
check 'a program that starts one' "$? $(sed "s/.*$once.*/told/" "$folder/out" | xargs)" '1 served told'
export OMPRMA_TRANSPORT=auto
check 'two programs of a script, without MPI' "$(OMPRMA_MEMORY=64M timeout 30 "$RUN" "$folder/two" 2>&1 | xargs)" \
    'served served 0'
check 'omprma-run in a script' \
    "$(OMPRMA_MEMORY=64M timeout 30 "$RUN" -n 1 -- sh -c "\"$RUN\" -n 1 $folder/real && $folder/real" 2>&1 | xargs)" 'served served'
check 'omprma-info in a script' \
    "$(timeout 30 "$RUN" -n 1 -- sh -c "'$BUILD_DIR/bin/omprma-info' -n 2 --json" 2>/dev/null | jq '.devices | length')" 2
check 'a script that offloads nothing' "$(timeout 30 "$RUN" sh -c true 2>&1; echo $?)" \
    "omprma: warning: no program that $(command -v sh) has started used a worker of this run"$'\n0'
# shellcheck disable=SC2016 # for the script
printf '#!/bin/bash\n(trap "" TERM; echo $BASHPID >"%s"; read -r _ < <(sleep 60)) & wait\n' "$folder/stays" >"$folder/leaver"
chmod +x "$folder/leaver"
"$RUN" "$folder/leaver" &
run=$!
for _ in $(seq 100); do [ -s "$folder/stays" ] && break; sleep 0.1; done
kill -KILL $run
{ wait $run; } 2>/dev/null
for _ in $(seq 100); do kill -0 "$(cat "$folder/stays")" 2>/dev/null || break; sleep 0.1; done
kill -0 "$(cat "$folder/stays")" 2>/dev/null && check 'omprma-run is killed' 'its script goes on' 'an end'
# shellcheck disable=SC2016 # likewise
timeout 20 "$RUN" sh -c 'kill -INT $$' "$folder/new" >"$folder/out" 2>&1
check 'Ctrl-C leaves no folder' "$(ls "$TMPDIR")" ''
export OMPRMA_TRANSPORT=direct
check 'a program that starts one, without MPI' \
    "$(OMPRMA_MEMORY=64M timeout 30 "$RUN" "$folder/real" "$folder/real" 2>&1 | xargs)" 'served served'

check 'files left' "$(ls "$TMPDIR")" ''
check 'processes left' "$(processes_left)" 0
finish
