#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# random.sh [SECONDS [SEED]]: random map lists on real workers: the random programs of this folder,
# a few seconds with each of several settings and clangs, which follow from the seed. The command that
# runs one again stands before its result. scripts/test takes the seed from the commit; an hour of
# others: BUILD_DIR=build tests/openmp/random.sh 3600 $RANDOM
set -u
here=$(dirname "$0")
root=$(realpath "$here/../..")
seconds=${1:-30} seed=${2:-1}
state=$seed
# shellcheck source=../random/settings.sh
. "$here/../random/settings.sh"

# The programs, and how many seeds or rounds of each take a few seconds. Where processors are short
# they take much longer; then fewer are played.
programs=(random:4000 randomdeep:40 randomtree:200 maplist:80 members:300 grove:60)
versions=()
for version in 14 15 16 17 18 19 22 23; do
    [ ! -x "$root/build/toolchains/llvm-$version/bin/clang" ] || versions+=("$version")
done
[ ${#versions[@]} != 0 ] || {
    echo "no clang: run scripts/toolchains"
    exit 77
}
export OMPRMA_TIMEOUT=60 OMPRMA_MEMORY=320M OMPRMA_TEST_SECONDS=180
SECONDS=0
for ((run = 0; SECONDS < seconds; run++)); do
    settings
    pick active passive
    chosen+=("OMP_WAIT_POLICY=$picked") # of libomp's threads
    pick "${versions[@]}"
    version=$picked
    pick "${programs[@]}"
    options=("${options[@]/#-n/--workers}")
    command=(env "${chosen[@]}" "$here/run" --llvm "$version" "${options[@]/#--devices-per-worker/--each}"
        --arguments "$((seed + 100000 * run)) ${picked#*:} 20" "${picked%:*}")
    echo "${command[*]@Q}"
    "${command[@]}" || exit
done
echo "random.sh: $run settings, all right"
