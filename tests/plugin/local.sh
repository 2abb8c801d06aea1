#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The plugin alone, without MPI and workers: all OpenMP programs of tests/openmp run through it and
# through local_omprma.c, whose devices are the process itself and which is as lazy as the interface
# of libomprma allows.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export BUILD_DIR=${BUILD_DIR:-$root/build}
compiler=${CC:-cc}
work=$BUILD_DIR/tests/plugin-local
mkdir -p "$work"

# Our sources are compiled anew against the local library, so that no other libomprma can slip in.
flags=(-std=gnu11 -g -O1 -fPIC -pthread "-I$root/include" "-I$root/src")
"$compiler" "${flags[@]}" -shared "$root/tests/unit/fake/local_omprma.c" -o "$work/libomprma.so" \
    -Wl,-soname,libomprma.so -ldl || exit 1
"$compiler" "${flags[@]}" -fvisibility=hidden -shared "$root"/src/plugin/*.c "$root"/src/face/*.c \
    -o "$work/libomprma-plugin.so" "-L$work" -lomprma "-Wl,-rpath,$work" -Wl,-z,nodelete || exit 1

failed=0

# LLVM 18, which Debian 12 lacks, is played by a program.
"$compiler" -O1 -fPIC -shared "$here/abi18_image.c" -o "$work/abi18_image.so" &&
    "$compiler" "${flags[@]}" "$here/abi18.c" -o "$work/abi18" -ldl &&
    LOCAL_OMPRMA_DEVICES=2 "$work/abi18" "$work/libomprma-plugin.so" "$work/abi18_image.so" ||
    failed=1

libraries=$root/build/toolchains/llvm-16/lib
[ -e "$libraries/libomptarget.so" ] || libraries=/usr/lib/llvm-16/lib
[ -e "$libraries/libomptarget.so" ] || exit 77
folder=$work/llvm-16
mkdir -p "$folder"
ln -sf "$libraries"/libomptarget.so* "$folder/"
ln -sf ../libomprma-plugin.so "$folder/libomptarget.rtl.x86_64.so"
ln -sf ../libomprma-plugin.so "$folder/libomptarget.rtl.x86_64.nextgen.so"
LOCAL_OMPRMA_DEVICES=2 "$root/tests/openmp/run" --llvm 16 --tier most --runtime llvm \
    --launcher "env LD_LIBRARY_PATH=$folder:$libraries" || failed=1
exit $failed
