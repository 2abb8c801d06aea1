#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Bad ends with real workers: crashing kernels, lost workers, no workers, another version. Each ends
# within bounded time with a line that says why, and nothing stays: no process, no file.
set -u
# shellcheck source=tests/shared_memory.sh
. "$(dirname "$0")/../shared_memory.sh"
# shellcheck source=tests/ucx_refused.sh
. "$(dirname "$0")/../ucx_refused.sh"
export UCX_NET_DEVICES=lo # see tests/integration/start
run=$BUILD_DIR/bin/omprma-run
ends=$BUILD_DIR/tests/integration/ends
losses=$BUILD_DIR/tests/integration/losses
held=$BUILD_DIR/tests/integration/held
folder=$(mktemp -d)
mkdir "$folder/tmp"
failures=0
# MPICH is always over UCX here.
hydra='' oversubscribe=--oversubscribe
[[ $(mpirun --version) != *HYDRA* ]] || hydra=yes oversubscribe=
# Of all but Open MPI 4, one-sided transfers within a host, too, wait for who takes part in them.
inside=yes
[[ $(mpirun --version) != *"(Open MPI) 4."* ]] || inside=
export TMPDIR=$folder/tmp OMPRMA_TEST_MARK=$folder
export OMPRMA_BIND=0 # else there is a line when workers share cores
trap 'rm -rf "$folder"' EXIT

check() { # WHAT GOT WANTED
    [ "$2" = "$3" ] && return
    printf 'FAILED %s: got "%s", wanted "%s"\n' "$1" "$2" "$3"
    failures=$((failures + 1))
}

says() { # WHAT FILE PATTERN
    grep -qE "$3" "$2" && return
    printf 'FAILED %s: no line with "%s" in:\n' "$1" "$3"
    cat "$2"
    failures=$((failures + 1))
}

# Processes of this test, by the mark in their environment.
processes() {
    grep -lsz "^OMPRMA_TEST_MARK=$folder\$" /proc/[0-9]*/environ | grep -vE "^/proc/($$|$BASHPID)/" |
        while IFS= read -r file; do
            name=$(cat "${file%/environ}/comm" 2>/dev/null)
            case $name in
            "" | ends.sh | grep | cat | find | sleep | sort) ;;
            *) echo "$name" ;;
            esac
        done
}

check_nothing_left() { # WHAT
    local left new
    for _ in $(seq 50); do
        left=$(processes)
        new=$(comm -13 "$folder/shm" <(shared_memory))
        [ -n "$left$new" ] || break
        sleep 0.1
    done
    check "$1: processes left" "$left" ""
    check "$1: shared memory left" "$new" ""
    check "$1: files left" "$(find "$TMPDIR" -mindepth 1 | head -3)" ""
}

# expect WHAT STATUS PATTERN LIMIT COMMAND...: status "bad" is any but 0 and those of signals and of
# timeout; Open MPI may end a process with the negative of an error number. PATTERN is one of stderr.
expect() {
    local what=$1 status=$2 pattern=$3 limit=$4 began=$SECONDS got
    shift 4
    shared_memory >"$folder/shm"
    timeout -k 5 60 "$@" >"$folder/out" 2>"$folder/err" </dev/null
    got=$?
    [ "$status" = bad ] && { [ "$got" -gt 0 ] && [ "$got" -lt 124 ] || [ "$got" = 125 ] || [ "$got" -gt 192 ]; } && got=bad
    check "$what: status" "$got" "$status"
    [ $((SECONDS - began)) -le "$limit" ] || check "$what: seconds" $((SECONDS - began)) "$limit"
    says "$what" "$folder/err" "$pattern"
    check_nothing_left "$what"
}

# expect_end WHAT COMMAND...: UCX ends a process that copies from one that has died, with its own
# words and a signal. What counts is that all end soon, with a line, and that nothing stays.
expect_end() {
    local what=$1 began=$SECONDS
    shift
    shared_memory >"$folder/shm"
    timeout -k 5 60 "$@" >"$folder/out" 2>"$folder/err" </dev/null
    check "$what: failed" "$(($? != 0))" 1
    [ $((SECONDS - began)) -le 20 ] || check "$what: seconds" $((SECONDS - began)) 20
    says "$what" "$folder/err" "^omprma: .* (was killed by|was ended by|ended early)"
    check_nothing_left "$what"
}

for osc in rdma ucx; do
    options=(--osc "$osc")
    for how in read_null call_abort call_exit divide read_null_in_thread; do
        expect "$how, $osc" 0 "^crash: .*kernel .*$how" 20 "$run" "${options[@]}" -- "$ends" $how
    done
    expect "print, $osc" 0 "kernel 19" 20 "$run" "${options[@]}" -- "$ends" print
    for ((i = 0; i < 20; i++)); do
        echo "host $i"
        echo "kernel $i"
        ((i % 3)) || echo "kernel $((100 + i))"
    done >"$folder/wanted"
    echo "host end" >>"$folder/wanted"
    check "print, $osc: order" "$(cat "$folder/out")" "$(cat "$folder/wanted")"
    for ((i = 0; i < 20; i++)); do
        printf 'host %d\nkernel %d\n' "$i" "$i"
    done >"$folder/wanted"
    check "print, $osc: order of errors" "$(grep -v '(quirk one-thread)$' "$folder/err")" "$(cat "$folder/wanted")"
    for n in 1 2; do
        expect "killed worker, $n, $osc" bad . 20 "$run" "${options[@]}" -n $n -- "$ends" kill
        OMPRMA_TIMEOUT=3 expect "stopped worker, $n, $osc" bad "(not answered|given up)" 25 \
            "$run" "${options[@]}" -n $n -- "$ends" stop
    done
done

# A worker that does not answer is given up, where MPI's calls would wait for it, too. Where one has begun to
# wait, the program ends, with a line. Where osc/pt2pt is no more, osc/rdma waits.
waits=(--mpi-arg --mca --mpi-arg osc --mpi-arg pt2pt)
[ -z "$hydra" ] && ompi_info 2>/dev/null | grep -q 'MCA osc: pt2pt ' || waits=(--osc rdma)
lost='^silent: device lost: device 0 .* has not answered for 3 s and is given up'
stuck='^omprma: error: device 0 .* has not answered for 3 s, and MPI waits'
OMPRMA_TIMEOUT=3 expect "silent worker, ${waits[*]: -1}" bad "$lost|$stuck" 25 \
    "$run" "${waits[@]}" -n 2 --data rma -- "$ends" silent
ucx_refused "$BUILD_DIR" || OMPRMA_TIMEOUT=3 expect "silent worker, ucx" bad "$lost|$stuck" 25 \
    "$run" --osc ucx --data rma -- "$ends" silent
OMPRMA_TIMEOUT=3 expect "silent worker, two-sided" bad "$lost" 25 \
    "$run" "${waits[@]}" -n 2 --data two-sided -- "$ends" silent

# lose OSC WAY: one of four devices is lost while they exchange.
lose() {
    local how
    export OMPRMA_EXCHANGE=$2
    for how in before during; do
        expect "lost $how exchanges by $2, $1" 0 "^exchange 0 to 1: .*kernel read_null crashed" 20 \
            "$run" --osc "$1" -n 4 -- "$losses" $how
    done
    # Where a one-sided transfer waits inside MPI for who takes part in it, the program ends with that line.
    OMPRMA_TIMEOUT=3 expect "stopped before exchanges by $2, $1" bad "^stopped: all have ended${inside:+|and MPI waits}" 25 \
        "$run" --osc "$1" -n 3 -- "$held" stop
    if [ "$1" = ucx ] || [ "$hydra" ]; then
        expect_end "killed while they exchange by $2, $1" "$run" --osc "$1" -n 4 -- "$losses" kill
    else
        expect "killed while they exchange by $2, $1" bad \
            "^omprma: error: worker 1 on .* killed by signal 9" 20 "$run" --osc "$1" -n 4 -- "$losses" kill
        check "killed while they exchange by $2, $1: lines" "$(wc -l <"$folder/err")" 1
    fi
    unset OMPRMA_EXCHANGE
}
for way in put get send application; do
    lose rdma $way
done
lose rdma auto
lose ucx auto
# Each path, and without MPI.
for options in "--osc rdma" "--osc rdma --data rma" "--transport direct"; do
    # shellcheck disable=SC2086 # several words
    expect "killed while the program copies, $options" bad \
        "^omprma: error: worker 1 .*killed by signal 9" 20 "$run" $options -n 4 -- "$losses" copies
done
lose ucx send

# One line, whatever Open MPI repeats meanwhile about the memory that is gone.
lose_while() { # WORKERS WHAT OPTION...
    local n=$1 what=$2
    shift 2
    if [ "$hydra" ]; then
        OMPRMA_MEMORY=320M expect_end "killed during large $what, $n, $*" "$run" "$@" -n "$n" -- "$ends" "$what"
        return
    fi
    OMPRMA_MEMORY=320M expect "killed during large $what, $n, $*" 125 \
        "^omprma: error: worker $((n - 1)) on .* was killed by signal 9" 20 \
        "$run" "$@" -n "$n" -- "$ends" "$what"
    check "killed during large $what, $n, $*: lines" "$(wc -l <"$folder/err")" 1
}
for n in 1 3; do
    for data in rma auto two-sided; do
        lose_while $n submit --osc rdma --data $data
        lose_while $n retrieve --osc rdma --data $data
    done
done
for data in rma two-sided; do
    lose_while 3 exchange --osc rdma --data $data
done
for what in submit retrieve; do
    OMPRMA_MEMORY=320M expect_end "killed during large $what, ucx" \
        "$run" --osc ucx -n 3 -- "$ends" $what
done

expect "no workers" 13 "no workers.*omprma-run" 10 "$ends" init
expect "alone under mpirun" 13 "no workers" 20 mpirun $oversubscribe -n 1 "$ends" init
expect "two programs" bad "(2 applications|one application)" 20 \
    mpirun $oversubscribe -n 2 "$ends" init
OMPRMA_INTERNAL_WORKER=$BUILD_DIR/tests/integration/stranger \
    expect "worker of another version" bad "version" 20 "$run" -- "$ends" init
OMPRMA_LANES=0 expect "bad setting" bad "OMPRMA_LANES" 20 "$run" -- "$ends" init

[ "$failures" = 0 ] || exit 1
echo "all right"
