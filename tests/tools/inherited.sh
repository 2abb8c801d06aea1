#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What processes inherit from whoever starts them (docs/design-notes/start.md has the table): run, info, perf,
# keeper and workers do their work, or say what keeps them from it; the program gets what it would
# have got without them. inherited.c makes the states. Several cases run at the same time.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
[ -z "${SANITIZE:-}" ] || exit 77 # its libraries must come first in a program
at_once=4
export TMPDIR=$folder/tmp OMPRMA_MEMORY=64M OMPRMA_BIND=0
mkdir "$TMPDIR"
chmod 755 "$folder"
chmod 1777 "$TMPDIR"
cc=("$CC" -O1 -D_GNU_SOURCE -I "$SOURCE_DIR/include" "$SOURCE_DIR/tests/tools/inherited.c")
"${cc[@]}" -o "$folder/inherited" -L "$BUILD_DIR/lib" -lomprma "-Wl,-rpath,$BUILD_DIR/lib" || exit 1
"${cc[@]}" -DINHERITED_IMAGE -shared -fPIC -o "$folder/image.so" || exit 1
in=$folder/inherited

# Each case is a function that gets a folder of its own, $own. after: its checks have failed.
begin() {
    own=$folder/$((++number))
    mkdir -m 1777 "$own"
    while [ "$(jobs -pr | wc -l)" -ge $at_once ]; do wait -n; done
    {
        "$@" >"$own/log" 2>&1
        echo "$failures" >"$own/failures"
    } &
}
number=0

# run_in HOW STATE...: the program in a run in these states; streams that are not closed go to files.
run_in() {
    local how=$1
    shift
    timeout -s KILL 25 "$in" "$@" -- "$RUN" "$in" "$how" "$folder/image.so" "$own/told" \
        >"$own/out" 2>"$own/err" </dev/null
}

# right STATE...: it works, and the program is told the same as without omprma-run.
right() {
    timeout 10 "$in" "$@" -- "$in" show "$own/plain" >/dev/null 2>&1 </dev/null
    run_in use "$@"
    check "status with $*" "$?" 0
    check "lines with $*" "$(grep -v "$expected" "$own/err")" ''
    check "the program with $*" "$(diff "$own/plain" <(sed '/^terminal/q' "$own/told") 2>&1)" ''
    sed '1,/^terminal/d' "$own/told" >"$own/kernel"
}

# kernel WANTED...: lines of what a kernel was told.
kernel() {
    local line
    for line in "$@"; do
        grep -qxF "$line" "$own/kernel" || check 'a kernel' "$(<"$own/kernel")" "$line"
    done
}
expected=' data path: two-sided: ' # where memory of others cannot be copied
no_signals=($'SigBlk:\t0000000000000000' $'SigIgn:\t0000000000000000')
[ "$(launcher_name)" != mpiexec.hydra ] || no_signals[1]=$'SigIgn:\t0000000000100000' # hydra has SIGTTIN ignored

everything() {
    right ignore=0 nice=3 umask=027 policy=3 core=0 pending=0 queues=0 open=900 session privileges \
        environment=1000000
    kernel "${no_signals[@]}" 'nice: 3' $'Umask:\t0027' 'policy: 3' $'NoNewPrivs:\t1'
    check 'descriptors of a kernel' "$(grep -cE '^descriptors: [0-9]{3}' "$own/kernel")" 0
}
blocked() {
    right block=0 group environment=0 umask=077 "${round_robin[@]}"
    kernel "${no_signals[@]}" 'stream 1: open'
}
printed() { # what kernels print still arrives where there is a stream
    right "$@"
    check "what is printed with $*" "$(cat "$own/out")" $'printed\nprinted'
}
refused_calls() { # process_vm_readv, sched_setattr, mbind, sched_setaffinity, close_range
    right ignore=17 refuse=310 refuse=314 refuse=237 refuse=203 refuse=436
}

# refused PATTERN STATE...: one line.
refused() {
    local pattern=$1
    shift
    run_in use "$@"
    check "status with $*" "$?" 125
    check "one line with $*" "$(grep -c "^omprma: .*$pattern" "$own/err") $(wc -l <"$own/err")" '1 1'
}

# What workers get from others than omprma-run; a crash is still told.
worker() {
    printf '#!/bin/sh\nexec "%s" close=0 close=1 close=2 block=0 ignore=0 -- "%s"\n' "$in" \
        "$BUILD_DIR/bin/omprma-worker" >"$own/worker"
    chmod +x "$own/worker"
    OMPRMA_INTERNAL_WORKER=$own/worker run_in crash umask=022
    check 'status of a crash' "$?" 99
    check 'line of a crash' "$(grep -c 'kernel crash crashed' "$own/err")" 1
    sed '1,/^terminal/d' "$own/told" >"$own/kernel"
    kernel 'stream 0: closed' 'stream 1: open' 'stream 2: open' "${no_signals[0]}"
}

# tool STATUS LINE STATE... -- COMMAND...
tool() {
    local wanted=$1 line=$2 states=()
    shift 2
    while [ "$1" != -- ]; do
        states+=("$1")
        shift
    done
    timeout -s KILL 25 "$in" "${states[@]}" "$@" >"$own/out" 2>"$own/err" </dev/null
    check "status of ${*:2} with ${states[*]}" "$?" "$wanted"
    check "line of ${*:2} with ${states[*]}" "$(grep -v measuring "$own/err")" "$line"
}
info=("$BUILD_DIR/bin/omprma-info" -n 1)
perf=("$BUILD_DIR/bin/omprma-perf" -n 1 --ops launch --paths auto --reps 3)
unwritten='omprma: error: cannot write to the standard output:'

# ended STATUS SIGNAL STATE...: a run that waits is told to end, or dies; its keeper cleans up.
ended() {
    local wanted=$1 signal=$2 pid
    shift 2
    mkdir -m 1777 "$own/tmp"
    TMPDIR=$own/tmp "$in" "$@" -- "$RUN" "$in" wait "$folder/image.so" "$own/told" >"$own/out" 2>&1 &
    pid=$!
    for _ in $(seq 200); do
        [ "$(grep -c ^terminal "$own/told" 2>/dev/null)" != 2 ] || break
        sleep 0.1
    done
    {
        kill -"$signal" "$pid"
        for _ in $(seq 100); do
            kill -0 "$pid" || break
            sleep 0.1
        done
        kill -KILL "$pid"
        wait "$pid"
    } 2>/dev/null
    check "status after $signal with $*" "$?" "$wanted"
    for _ in $(seq 60); do
        [ -n "$(ls "$own/tmp")" ] || break
        sleep 0.1
    done
    check "files left after $signal with $*" "$(ls "$own/tmp")" ''
}

printf '#!/bin/sh\ntrap "exit 7" ALRM\nwhile :; do sleep 0.1; done\n' >"$folder/alarmed"
chmod +x "$folder/alarmed"

round_robin=(policy=2) # who has no CAP_SYS_NICE may not
"$in" policy=2 -- true 2>/dev/null || round_robin=()

begin everything
begin blocked
begin right close=0 close=1 close=2
begin printed close=0
begin right close=1
begin printed close=2
begin refused_calls
begin worker
! "$in" policy=1 -- true 2>/dev/null || begin refused 'policy is FIFO' policy=1
begin refused 'which processors it has (sched_getaffinity: ' refuse=204
user=(user=65534) # root may do what others may not
[ "$(id -u)" = 0 ] || user=()
! "$in" "${user[@]}" -- test -x "$RUN" || begin refused 'the umask is 0111' "${user[@]}" umask=0111
begin refused 'only 1030 files' open=1000 files=1030
begin refused 'the environment and .* have [0-9]* KiB' environment=2090000
begin refused 'the environment and .* have [0-9]* KiB' stack=262144 environment=60000
begin tool 0 '' ignore=0 block=0 close=0 -- "${info[@]}"
begin tool 1 "$unwritten Bad file descriptor" close=1 -- "${info[@]}"
begin tool 1 '' close=0 close=1 close=2 -- "${info[@]}"
begin tool 0 '' ignore=0 block=0 close=0 -- "${perf[@]}"
begin tool 1 "$unwritten Bad file descriptor" close=1 -- "${perf[@]}"
begin ended 143 TERM ignore=17
begin ended 137 KILL ignore=17
begin ended 137 KILL block=0 close=0 close=1 close=2
begin tool 7 '' alarm=6 -- "$RUN" "$folder/alarmed"
wait
cat "$folder"/*/log
for one in "$folder"/*/failures; do
    failures=$((failures + $(<"$one")))
done
check 'cases' "$(cat "$folder"/*/failures | wc -l)" "$number"
check 'files left' "$(ls "$TMPDIR")" ''
finish
