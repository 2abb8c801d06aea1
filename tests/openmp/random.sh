#!/bin/bash
# random.sh [SECONDS [SEED]]: random map lists on real workers: the random programs of this folder,
# a few seconds with each of several settings and clangs, which follow from the seed. Of what fails,
# the command that runs it again is printed. ctest runs some fixed seeds of the same programs; an
# hour of others: BUILD_DIR=build tests/openmp/random.sh 3600 $RANDOM
set -u
here=$(dirname "$0")
root=$(realpath "$here/../..")
build=$(realpath "${BUILD_DIR:-$root/build}")
seconds=${1:-30} seed=${2:-1}
state=$seed
# shellcheck source=../random/settings.sh
. "$here/../random/settings.sh"

# The programs, and how many seeds or rounds of each take a few seconds.
programs=(random:4000 randomdeep:40 maplist:80)
versions=()
for version in 14 15 16 19 22; do
    [ ! -x "$root/build/toolchains/llvm-$version/bin/clang" ] || versions+=("$version")
done
[ ${#versions[@]} != 0 ] || {
    echo "no clang: run scripts/toolchains"
    exit 77
}
work=$(mktemp -d "$build/tests/openmp/.random.XXXXXX")
trap 'rm -rf "$work"' EXIT
for version in "${versions[@]}"; do
    for program in "${programs[@]}"; do
        "$root/build/toolchains/llvm-$version/bin/clang" -w -O1 -fopenmp \
            -fopenmp-targets=x86_64-pc-linux-gnu "$here/programs/${program%:*}.c" \
            -o "$work/${program%:*}-$version" || exit 1
    done
done

export OMPRMA_BIND=0 OMPRMA_TIMEOUT=60 OMPRMA_MEMORY=320M OMPRMA_TEST_REMOTE=1
SECONDS=0
for ((run = 0; SECONDS < seconds; run++)); do
    settings
    pick "${versions[@]}"
    version=$picked
    pick "${programs[@]}"
    program=${picked%:*}
    each=1
    [[ "${options[*]}" != *devices-per-worker* ]] || each=${options[-1]}
    command=(env "OMPRMA_TEST_EACH=$each" "${chosen[@]}" "$build/bin/omprma-run" "${options[@]}" --llvm
        "$root/build/toolchains/llvm-$version/lib" "$work/$program-$version"
        $((seed + 100000 * run)) "${picked#*:}")
    echo "${chosen[*]} ${options[*]} $program $version"
    timeout -k 5 180 "${command[@]}" || {
        echo "status $?: ${command[*]}"
        trap - EXIT # the program stays
        exit 1
    }
done
echo "random.sh: $run settings, all right"
