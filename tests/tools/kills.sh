#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# kills.sh [COUNT [SEED [hosts]]]: an OpenMP program on 4 workers, of which one process is killed or
# stopped at a random moment; then the run ends soon, right or with a line and a status that is not 0,
# and leaves nothing behind. By default what ctest runs: 8 times the same. For 100 others, on this
# host and on two:
#   BUILD_DIR=build tests/tools/kills.sh 100 $RANDOM; BUILD_DIR=build tests/tools/kills.sh 100 $RANDOM hosts
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/shared_memory.sh
. "$(dirname "$0")/../shared_memory.sh"
count=${1:-8} RANDOM=${2:-1} workers=(-n 4) data=(auto rma two-sided)
bound=40 # seconds: OMPRMA_TIMEOUT, twice where workers exchange, and the ends of mpirun and MPI
find_llvm || exit 77
[ -z "${SANITIZE:-}" ] || exit 77 # its output and its time are not the program's

export TMPDIR=$folder/tmp OMPRMA_TIMEOUT=3 LIBOMP_NUM_HIDDEN_HELPER_THREADS=2 OMP_NUM_THREADS=2
export OMPRMA_BIND=0 # else there is a line when workers share cores
mkdir "$TMPDIR"
if [ "${3:-}" = hosts ]; then
    hosts_up 2 || exit 77
    remote_shell "$HOSTS_AGENT"
    export OMPRMA_MEMORY=320M
    workers=(--hosts "${HOSTS[0]}:2,${HOSTS[1]}:2") data=(auto two-sided) # TCP has no window
fi
program=$folder/kills
"$llvm/bin/clang" -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
    "$(dirname "$0")/kills.c" -o "$program" || exit 1

# The processes of run $1 whose name is $2, as far as they still are there.
named() {
    local pid
    for pid in $(descendants "$1"); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$2" ] || echo "$pid"
    done
}

# one NUMBER: starts a run, does something to it, and looks how it ends.
one() {
    local signals=(KILL STOP) victims=(worker worker program keeper mpirun stand-in)
    local signal=${signals[RANDOM % 2]} victim=${victims[RANDOM % 6]} which=$((RANDOM % 4 + 1))
    local delay=$((RANDOM % 3000)) mode after=''
    mode=${data[RANDOM % ${#data[@]}]}
    local what="run $1: $signal to $victim after $delay ms, --data $mode" run target begun got took

    shared_memory >"$folder/memory"
    "$RUN" "${workers[@]}" --data "$mode" "$program" 4 >"$folder/out" 2>"$folder/err" &
    run=$!
    await "$folder/out" ready
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    case $victim in
    worker) target=$(named "$run" omprma-worker | sed -n "${which}p") ;;
    program) target=$(pgrep -P "$run" -x kills) ;;
    keeper) target=$(named "$run" omprma-keeper | head -n 1) ;;
    mpirun) target=$(named "$run" "$(launcher_name)" | head -n 1) ;;
    stand-in) target=$(named "$run" omprma-run | tail -n 1) ;;
    esac
    begun=$SECONDS
    [ -z "$target" ] || kill -"$signal" "$target" 2>/dev/null || target=''
    # A program that its user stops and lets go on is to go on as if nothing had been.
    [ "$signal $victim" != 'STOP program' ] || { sleep 4 && kill -CONT "$target" 2>/dev/null; }
    (sleep $bound && echo late >"$folder/late" && kill -KILL $run) 2>/dev/null &
    local alarm=$!
    { wait "$run"; } 2>/dev/null
    got=$?
    took=$((SECONDS - begun))
    pkill -P $alarm

    if [ -e "$folder/late" ]; then
        check "$what: end" "none after $bound s" "an end"
        rm "$folder/late"
    fi
    if grep -q '^right$' "$folder/out" && [ $got = 0 ]; then
        after="right after $took s"
    else
        grep '^omprma: ' "$folder/err" | grep -v '^omprma: note: data path' >"$folder/lines"
        after="status $got after $took s: $(head -n 1 "$folder/lines")"
        check "$what: status that is not 0" "$((got != 0))" 1
        [ "$signal $victim" != 'STOP program' ] || check "$what: status" "$got" 0
        [ "$victim" = program ] || [ -s "$folder/lines" ] || check "$what: a line" none some
    fi
    check "$what: wrong content" "$(grep wrong "$folder/out")" ''
    echo "$what: $after"
    left "$what"
    [ $failures = 0 ] || { cat "$folder/err" && exit 1; }
}

# left WHAT: what is still there some time after the run.
left() {
    local processes='' new='' files=''
    for _ in $(seq 60); do
        processes=$(pgrep -af "$folder/" | grep -v pgrep)
        new=$(comm -13 "$folder/memory" <(shared_memory))
        files=$(ls "$TMPDIR")
        [ -n "$processes$new$files" ] || break
        sleep 0.1
    done
    check "$1: processes left" "$processes" ''
    check "$1: shared memory left" "$new" ''
    check "$1: files left" "$files" ''
    rm -rf "${TMPDIR:?}"/*
}

for number in $(seq "$count"); do
    one "$number"
done
finish
