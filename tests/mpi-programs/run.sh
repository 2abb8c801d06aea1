#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh [OPTION...] PART...: MPI programs with target regions, and several programs at once, on shared
# workers. Each program compares what its regions computed with the same computed by itself.
#   parts: openmpi, ucx (Open MPI over UCX), mpich: each program with some number of ranks, which
#     follows from OMPRMA_TEST_SEED; scripts: what starts several programs, of both MPIs at once, too
#   --long   each program with 1, 2, 4 and 8 ranks; minutes
#   --stock  with LLVM's own device and without omprma: the programs themselves are right
#   --llvm N which clang; else one of those that are here, which follows from OMPRMA_TEST_SEED
#   --only NAME  this program alone
# Status 77: there is no such MPI, or no clang.
# shellcheck source=tests/mpi-programs/common.sh
. "$(dirname "$0")/common.sh"
[ -z "${SANITIZE:-}" ] || exit 77 # programs without it cannot load what has it
programs=(ring halo threads spawn windows lifetime handlers reduce print devices halo_fortran)
long='' stock='' wanted_llvm='' only='' seed=${OMPRMA_TEST_SEED:-1} workers=2
limit=${OMPRMA_TEST_SECONDS:-120} # of one run

while [ $# -gt 0 ]; do
    case $1 in
    --long) long=yes && shift ;;
    --stock) stock=yes && shift ;;
    --llvm) wanted_llvm=$2 && shift 2 ;;
    --only) only=$2 && shift 2 ;;
    -*) echo "run.sh: unknown option $1" && exit 2 ;;
    *) break ;;
    esac
done
find_llvm || exit 77
# Of LLVM 14, its own device is wrong with regions in a parallel region and with nowait.
clangs=()
for clang in "${llvm%-*}"-*/bin/clang; do
    [[ $stock = yes && $clang = */llvm-14/* ]] || clangs+=("$clang")
done
llvm=${clangs[seed % ${#clangs[@]}]%/bin/clang}
[ -z "$wanted_llvm" ] || llvm=${llvm%-*}-$wanted_llvm
out=$BUILD_DIR/tests/mpi-programs/$(basename "$llvm")
mkdir -p "$out"
[ -z "$only" ] || programs=("$only")
if [ -n "$stock" ]; then
    export LD_LIBRARY_PATH=$llvm/lib:${llvm%-*}-22/lib:${LD_LIBRARY_PATH:-}
fi
export OMP_TARGET_OFFLOAD=MANDATORY

# run WHAT COMMAND...: what it prints is in $folder/out and err; a status that is not 0 is wrong.
run() {
    local what=$1 begin=${EPOCHREALTIME/./} got
    shift
    timeout -k 5 "$limit" "$@" </dev/null >"$folder/out" 2>"$folder/err"
    got=$?
    check "$what: status" $got 0
    check "$what: error lines" "$(grep '^omprma: error' "$folder/err")" ''
    [ $got = 0 ] || tail -n 15 "$folder/out" "$folder/err"
    printf '%-40s %5d ms\n' "$what" $(((${EPOCHREALTIME/./} - begin) / 1000))
}

# "ok NAME R of RANKS" for each rank.
reports() { # NAME RANKS
    local r
    for ((r = 0; r < $2; r++)); do
        echo "ok $1 $r of $2"
    done
}

# look WHAT NAME RANKS: the lines of all ranks are there, and no others.
look() {
    local what=$1 name=$2 ranks=$3 wanted
    wanted=$(reports "$name" "$ranks"; [ "$name" != spawn ] || reports spawned 2)
    check "$what: reports" "$(grep -E '^(ok|wrong)' "$folder/out" | sort)" "$(sort <<<"$wanted")"
    [ "$name" != print ] || check "$what: order of the lines" "$(awk '
        NF == 2 { if ($2 != next_line[$1]++) print "rank " $1 ": line " $2 }
        END { for (r = 0; r < '"$ranks"'; r++) if (next_line[r] != 40) print "rank " r ": " next_line[r]+0 " lines" }
        ' "$folder/out")" ''
}

# Devices that the ranks see of $workers: all, or rank R of RANKS those from R on in steps of RANKS.
devices_seen() { # SHARE RANKS
    local r seen
    for ((r = 0; r < $2; r++)); do
        seen=$workers
        [ "$1" = all ] || seen=$(((workers - r % workers + $2 - 1) / $2))
        echo "devices $r of $2: $seen"
    done
}

check_devices() { # WHAT SHARE RANKS
    [ -z "$stock" ] || return 0
    check "$1: devices" "$(grep ^devices "$folder/out" | sort)" "$(devices_seen "$2" "$3")"
}

# One program of one MPI with so many ranks.
one() { # KIND NAME RANKS
    local what="$1, $2, $3 ranks" omprma=("$RUN" -n "$workers" --) words=()
    [ -z "$stock" ] || omprma=()
    if [ "$2" = devices ] && [ -z "$stock" ]; then
        words=(own)
        run "$what, all" "$RUN" -n "$workers" --share all -- "${launch[@]}" -n "$3" "$out/$kind/devices" own
        look "$what, all" devices "$3"
        check_devices "$what, all" all "$3"
    fi
    run "$what" "${omprma[@]}" "${launch[@]}" -n "$3" "$out/$kind/$2" "${words[@]}"
    look "$what" "$2" "$3"
    [ "$2" != devices ] || check_devices "$what" split "$3"
}

# Each rank with workers of its own.
inside() { # KIND
    [ -z "$stock" ] || return 0
    run "$1, omprma-run in each of 2 ranks" "${launch[@]}" -n 2 "$RUN" -n 1 "$out/$kind/ring"
    look "$1, omprma-run in each of 2 ranks" ring 2
}

# What is true of all ranks of a host is said by one of them.
said_once() { # KIND
    [ -z "$stock" ] || return 0
    local first
    first=$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')
    run "$1, 2 workers on 1 processor" env OMPRMA_BIND=1 taskset -c "$first" "$RUN" -n 2 -- \
        "${launch[@]}" -n 3 "$out/$kind/ring"
    look "$1, 2 workers on 1 processor" ring 3
    check "$1, 2 workers on 1 processor: lines" "$(grep -c '^omprma: warning: 2 workers share' "$folder/err")" 1
}

# Our own MPI cannot be started beside the program's.
refused() { # KIND
    [ -z "$stock" ] || return 0
    timeout -k 5 "$limit" "$RUN" --transport mpi -n 1 "$out/$1/ring" </dev/null >"$folder/out" 2>"$folder/err"
    check "$1, --transport mpi: status" $? 125
    check "$1, --transport mpi: lines" "$(sed 's/.*ring calls/ring calls/' "$folder/out" "$folder/err")" \
        'ring calls MPI_Init, which --transport mpi cannot serve; leave it out'
}

# Debian's MPICH refuses MPI_Comm_spawn, because it is over UCX.
can() { # KIND NAME
    [ "$1 $2" != 'mpich spawn' ] && { [ "$2" != halo_fortran ] || [ -x "$flang" ]; }
}

# Open MPI 5 may not connect what it spawns, and waits, whatever the program does besides.
spawns() { # RANKS
    OMP_TARGET_OFFLOAD=DISABLED LD_LIBRARY_PATH=$llvm/lib timeout -k 5 30 "${launch[@]}" -n "$1" "$out/$kind/spawn" \
        </dev/null >/dev/null 2>&1
    [ $? -lt 124 ] # its regions are wrong without devices
}

part_mpi() { # PART
    local kind=${1/ucx/openmpi} number=0 name ranks
    local counts=(1 2 4) own
    find_mpi "$1" || exit 77
    for name in "${programs[@]}"; do
        can "$kind" "$name" || continue
        build "$kind" "$name"
        own=("${counts[(seed + number + ${#1}) % 3]}")
        number=$((number + 1))
        [ -z "$long" ] || own=(1 2 4 8)
        for ranks in "${own[@]}"; do
            if [ "$name" = spawn ] && ! spawns "$ranks"; then
                echo "$1, spawn, $ranks ranks: left out, because it fails without omprma, too"
            else
                one "$1" "$name" "$ranks"
            fi
        done
    done
    [ -n "$only" ] || { build "$kind" ring && inside "$1" && said_once "$1" && refused "$kind"; }
}

plain_lines() { # FIRST LAST
    seq -f 'ok plain %.0f' "$1" "$2"
}

# check_plain WHAT FIRST LAST: each of these has said so once.
check_plain() {
    check "$1" "$(sort -V "$folder/out")" "$(plain_lines "$2" "$3")"
}

scripts_of_plain() {
    local plain=$out/none/plain
    cat >"$folder/in_turns" <<END
#!/bin/sh
for i in \$(seq 20); do "$plain" \$i || exit 1; done
END
    cat >"$folder/at_once" <<END
#!/bin/bash
for i in 1 2 3 4; do "$plain" \$i & done
status=0
for i in 1 2 3 4; do wait -n || status=1; done
exit \$status
END
    printf 'all: 1 2 3\n1 2 3:\n\t@%s $@\n.PHONY: all 1 2 3\n' "$plain" >"$folder/Makefile"
    cat >"$folder/several.py" <<END
import subprocess, sys
first = [subprocess.run(["$plain", str(i)]).returncode for i in (1, 2)]
then = [subprocess.Popen(["$plain", str(i)]) for i in (3, 4)]
sys.exit(any(first) or any([p.wait() for p in then]))
END
    chmod +x "$folder/in_turns" "$folder/at_once"
}

part_scripts() {
    local omprma=("$RUN" -n "$workers" --) one=("$RUN" -n 1 --)
    [ -z "$stock" ] || { omprma=() && one=(); }
    build none plain loaded
    scripts_of_plain
    run 'a script, 20 in turns' "${one[@]}" "$folder/in_turns"
    check 'a script, 20 in turns: output' "$(cat "$folder/out")" "$(plain_lines 1 20)"
    run 'a script, 4 at once' "${omprma[@]}" "$folder/at_once"
    check_plain 'a script, 4 at once: output' 1 4
    run 'make -j3' "${omprma[@]}" make -s -j3 -C "$folder"
    check_plain 'make -j3: output' 1 3
    run 'Python' "${omprma[@]}" python3 "$folder/several.py"
    check_plain 'Python: output' 1 4
    part_both
    [ -n "$stock" ] || { part_alone && part_memory && part_wrong; }
}

# Programs of both MPIs at once.
part_both() {
    local omprma=("$RUN" -n "$workers" --) launch kind
    [ -z "$stock" ] || omprma=()
    find_mpi mpich || return 0
    build mpich halo
    local hydra="${launch[*]}"
    find_mpi openmpi || return 0
    build openmpi ring
    cat >"$folder/both" <<END
#!/bin/bash
${launch[*]} -n 2 $out/openmpi/ring &
$hydra -n 2 $out/mpich/halo &
wait -n && wait -n
END
    chmod +x "$folder/both"
    run 'Open MPI and MPICH at once' "${omprma[@]}" "$folder/both"
    check 'Open MPI and MPICH at once: reports' "$(grep -E '^(ok|wrong)' "$folder/out" | sort)" \
        "$(reports halo 2; reports ring 2)"
}

# What is in the program's process, its status, and its answer to signals and to what is not there.
part_alone() {
    local libraries=(libmpi libopen-pal libucp libpmix libfabric)
    run 'libraries, a script' "$RUN" -n 1 -- sh -c "\"\$0\" \"\$@\"; exit \$?" "$out/none/loaded" "${libraries[@]}"
    check 'libraries, a script: output' "$(cat "$folder/out")" 'ok loaded'
    run 'libraries, direct' env OMPRMA_TRANSPORT=direct "$RUN" -n 1 "$out/none/loaded" "${libraries[@]}"
    check 'libraries, direct: output' "$(cat "$folder/out")" 'ok loaded'
    env OMPRMA_TRANSPORT=mpi "$RUN" -n 1 "$out/none/loaded" "${libraries[@]}" >"$folder/out"
    check 'libraries, mpi: status' $? 1
    "$RUN" -n 1 -- sh -c 'exit 7' 2>"$folder/err"
    check 'the status of a script' $? 7
    "$RUN" -n 1 -- sh -c 'kill -TERM $$' 2>"$folder/err"
    check 'the status of a script that a signal ends' $? 143
    # shellcheck disable=SC2016 # the shell that is started does it
    "$RUN" -n 1 -- sh -c 'echo; read -r line; echo "$line"; pwd' <<<words >"$folder/out" 2>"$folder/err"
    check "a script's input and folder" "$(cat "$folder/out")" "$(printf '\nwords\n%s' "$PWD")"
}

# A worker's memory is that of all programs that share it; what one holds that is killed is free again.
part_memory() {
    build none memory
    cat >"$folder/sharing" <<END
#!/bin/bash
"$out/none/memory" 100 stay & first=\$!
"$out/none/memory" 50 stay & second=\$!
until [ "\$(grep -c had "$folder/out")" = 2 ]; do sleep 0.05; done
"$out/none/memory" 100
kill -KILL \$first
until "$out/none/memory" 150 | grep -v not; do sleep 0.05; done
"$out/none/memory" 200
kill \$second
wait
exit 0
END
    chmod +x "$folder/sharing"
    timeout -k 5 "$limit" env OMPRMA_MEMORY=256M OMPRMA_ARENA=16M "$RUN" -n 1 -- "$folder/sharing" \
        </dev/null >"$folder/out" 2>"$folder/err"
    check 'memory that is shared: status' $? 0
    check 'memory that is shared: lines' "$(grep ^omprma "$folder/err" | grep -vc ' MiB more would pass .* by other programs that share it')" 0
    check 'memory that is shared: output' "$(sort "$folder/out")" \
        "$(printf 'memory %s\n' '100 had' '100 not had' '150 had' '200 not had' '50 had')"
}

# What cannot be had, or has no effect: a line, and nobody else notices.
part_wrong() {
    local plain=$out/none/plain i
    "$RUN" -n 1 -- sh -c "(while [ ! -e '$folder/over' ]; do sleep 0.1; done; '$plain' 1) >'$folder/late' 2>&1 &"
    touch "$folder/over"
    await "$folder/late" plain
    check 'who joins after the end' "$(grep -c '^omprma: error: no workers on this host: .* has ended' "$folder/late")" 1
    rm "$folder/over"
    cat >"$folder/many" <<END
#!/bin/bash
for i in \$(seq 10); do { "$plain" \$i >"$folder/many.\$i" 2>&1; } & done
wait
END
    chmod +x "$folder/many"
    (ulimit -n 28 && run 'few files may be open' "$RUN" -n 1 -- "$folder/many"; exit "$failures") || failures=1
    for ((i = 1; i <= 10; i++)); do
        check "few files, program $i" "$(grep -cE "^(ok plain $i|omprma: error: (cannot start a worker|.*[Tt]oo many).*)\$" \
            "$folder/many.$i")" 1
    done
    "$RUN" -n 1 --osc rdma -- sh -c 'exit 0' 2>"$folder/err"
    check '--osc without MPI' "$(grep -c '^omprma: warning: --osc rdma .* no effect' "$folder/err")" 1
    OMPRMA_NETWORK=ucx "$RUN" -n 1 -- sh -c 'exit 0' 2>"$folder/err"
    check 'OMPRMA_NETWORK=ucx on one host' "$(grep -c '^omprma: warning: OMPRMA_NETWORK=ucx .* no effect' "$folder/err")" 1
    "$RUN" -n 3 --hosts localhost,192.0.2.1:2 --dry-run -- sh >"$folder/out"
    check '--dry-run: workers of each host' "$(grep -oE 'LISTENER CONTROL .*' "$folder/out")" 'LISTENER CONTROL 1 NETWORK 2'
}

[ $# -gt 0 ] || set -- openmpi ucx mpich scripts
for part in "$@"; do
    case $part in
    openmpi | ucx | mpich) part_mpi "$part" ;;
    scripts) part_scripts ;;
    *) echo "run.sh: unknown part $part" && exit 2 ;;
    esac
done
finish
