#!/bin/bash
# random.sh [SECONDS [SEED]]: random programs on real workers, a few seconds with each of several
# settings, which follow from the seed. Of a program that fails, the shortest part that does is
# printed, with the commands that run it again. By default what ctest runs: 30 s of the same seeds
# each time. For an hour of others: BUILD_DIR=build tests/integration/random.sh 3600 $RANDOM
set -u
BUILD_DIR=$(realpath "${BUILD_DIR:-build}")
export BUILD_DIR
seconds=${1:-30} seed=${2:-1}
each=3
start=$(dirname "$0")/start
state=$seed

# pick WORD...: one of them, in $picked.
pick() {
    state=$(((state * 1103515245 + 12345) & 0x7fffffff))
    shift $(((state >> 16) % $#))
    picked=$1
}

# One of the settings of a kind, or that it is left alone; the result is a line of assignments.
settings() {
    chosen=()
    pick '' '' INLINE_SUBMIT=0 INLINE_SUBMIT=64 INLINE_SUBMIT=2K INLINE_SUBMIT=16K
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' '' INLINE_RETRIEVE=0 INLINE_RETRIEVE=2K INLINE_RETRIEVE=16K
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' PIECE=64K PIECE=128K
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' EXCHANGE=put EXCHANGE=get EXCHANGE=send EXCHANGE=application
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' '' CONTROL=mpi
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' '' LANES=3
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick ARENA=1M ARENA=64M
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick '' '' '' PROGRESS_THREAD=1
    chosen+=(${picked:+"OMPRMA_$picked"})
    pick auto rma two-sided
    options=(--data "$picked")
    pick auto rdma ucx
    options+=(--osc "$picked")
    pick 1 2 3 3
    options+=(-n "$picked")
    [ "$picked" = 3 ] || pick '' 2
    [ "$picked" != 2 ] || options+=(--devices-per-worker 2)
    # No way by a window without one.
    case "${options[*]} ${chosen[*]}" in
    *two-sided*EXCHANGE=[pg]* | *'data rma'*EXCHANGE=send*) chosen+=(OMPRMA_EXCHANGE=auto) ;;
    esac
}

export OMPRMA_TIMEOUT=20
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0
SECONDS=0
for ((run = 0; SECONDS < seconds; run++)); do
    settings
    first=$((seed + 100000 * run))
    echo "${chosen[*]} ${options[*]}"
    timeout 180 env "${chosen[@]}" "$start" random "${options[@]}" -- $first $each >"$out" 2>&1
    status=$?
    cat "$out"
    if [ $status != 0 ]; then
        failed=1
        wrong=$(sed -n 's/^the program: seed \([0-9]*\),.*/\1/p' "$out" | head -n 1)
        if [ -n "$wrong" ]; then
            timeout 240 "$BUILD_DIR/tests/integration/random" "$wrong" shrink \
                env "${chosen[@]}" "$start" random "${options[@]}" --
        fi
        break
    fi
done
exit $failed
