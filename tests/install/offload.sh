#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# An OpenMP program of a user's CMake project: find_package(omprma) of an installed and moved tree, omprma_offload(),
# and tests that run by omprma-run. gcc is refused with a line.
set -euo pipefail

# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"
[ -z "${SANITIZE:-}" ] || { echo 'skipped: for plain builds' && exit 77; }
for version in 14 19 22 23; do
    clang=$SOURCE_DIR/build/toolchains/llvm-$version/bin/clang
    [ ! -x "$clang" ] || break
done
[ -x "$clang" ] || { echo 'skipped: no toolchain of LLVM 14, 19, 22 or 23 (scripts/toolchains)' && exit 77; }
[ "$version" = 14 ] || export LD_LIBRARY_PATH=$SOURCE_DIR/build/toolchains/llvm-$version/lib

cmake --install "$BUILD_DIR" --prefix "$work/first" >"$work/log" || fail 'cmake --install failed'
mv "$work/first" "$work/moved"
project=$SOURCE_DIR/tests/install/offload
{ cmake -S "$project" -B "$work/build" -DCMAKE_C_COMPILER="$clang" -DCMAKE_PREFIX_PATH="$work/moved" &&
    cmake --build "$work/build"; } >"$work/log" 2>&1 || { cat "$work/log" && fail 'no build'; }
(cd "$work/build" && timeout 120 ctest --output-on-failure) >"$work/log" 2>&1 || { cat "$work/log" && complain 'ctest: see above'; }
grep -q '100% tests passed, 0 tests failed out of 3' "$work/log" || complain "ctest: $(cat "$work/log")"

cmake -S "$project" -B "$work/other" -DCMAKE_C_COMPILER=gcc -DCMAKE_PREFIX_PATH="$work/moved" >"$work/log" 2>&1 &&
    complain 'gcc is accepted'
tr -s ' \n' ' ' <"$work/log" | grep -q 'target regions for workers need clang, and CMAKE_C_COMPILER is GNU' ||
    complain "gcc: $(cat "$work/log")"
finish 'a project with target regions is built and tested'
