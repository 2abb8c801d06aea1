#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# random.sh [SECONDS [SEED]]: random programs on real workers, a few seconds with each of several
# settings, which follow from the seed. Of a program that fails, the shortest part that does is
# printed, with the commands that run it again. By default what ctest runs: 30 s of a seed that
# scripts/test takes from the commit. For an hour of others: BUILD_DIR=build tests/integration/random.sh 3600 $RANDOM
set -u
BUILD_DIR=$(realpath "${BUILD_DIR:-build}")
export BUILD_DIR
seconds=${1:-30} seed=${2:-${OMPRMA_TEST_SEED:-1}}
each=3
start=$(dirname "$0")/start
state=$seed
# shellcheck source=../random/settings.sh
. "$(dirname "$0")/../random/settings.sh"

echo "seed $seed"
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
