#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# examples/tool.c, built as its first lines say, counts what examples/saxpy.c does, with each libomp that hands tools on.
set -u
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
found=
for version in 16 19 22 23; do
    llvm=$SOURCE_DIR/build/toolchains/llvm-$version
    if [ ! -x "$llvm/bin/clang" ] || [ ! -e "$llvm/include/omp-tools.h" ]; then continue; fi
    found=yes
    export LD_LIBRARY_PATH=$llvm/lib
    "$llvm/bin/clang" -Wall -Wextra -Werror -I"$llvm/include" -shared -fPIC "$SOURCE_DIR/examples/tool.c" -o "$folder/tool.so" || exit 1
    "$llvm/bin/clang" -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "-L$llvm/lib" "$SOURCE_DIR/examples/saxpy.c" -o "$folder/saxpy" || exit 1
    OMP_TOOL_LIBRARIES=$folder/tool.so timeout 60 "$RUN" -n 2 "$folder/saxpy" 1000 >"$folder/out" 2>"$folder/err"
    check "saxpy with the tool, $version" "$?" 0
    # Two vectors of half the elements go there, one comes back.
    for device in 0 1; do
        check "device $device, $version" "$(grep "^device $device" "$folder/err" | grep -cE ': [1-9][0-9]* regions, 4[0-9]{3} bytes there, 2[0-9]{3} back$')" 1
    done
done
[ "$found" ] || { echo 'no clang since 16 with omp-tools.h' && exit 77; }
finish
