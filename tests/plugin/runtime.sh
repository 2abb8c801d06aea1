#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# omprma's own OpenMP runtime alone, without MPI and workers: the OpenMP programs of tests/openmp run
# through it and through local_omprma.c, whose devices are the process itself and which is as lazy as
# the interface of libomprma allows; preloaded, as by omprma-run, and not. Also: it exports what
# programs of every clang look for (runtime_symbols.txt) and nothing else, libomp's functions under
# libomp's version and all others under VERS1.0, and asks libomprma only for the functions of include.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export BUILD_DIR=${BUILD_DIR:-$root/build}
compiler=${CC:-cc}
work=$BUILD_DIR/tests/runtime-local
mkdir -p "$work/runtime"
failed=0 ran=0

complain() {
    echo "runtime: $*" >&2
    failed=1
}

# Our sources are compiled anew against the local library, so that no other libomprma can slip in.
flags=(-std=gnu11 -g -O1 -fPIC -pthread -D_GNU_SOURCE= "-I$root/include" "-I$root/src")
"$compiler" "${flags[@]}" -shared "$root/tests/unit/fake/local_omprma.c" -o "$work/libomprma.so" \
    -Wl,-soname,libomprma.so -ldl || exit 1
mapfile -t sources < <(find "$root/src/openmp" -name '*.c' ! -path '*/preload/*' ! -path '*/stub/*')
"$compiler" "${flags[@]}" -fvisibility=hidden -shared "${sources[@]}" "$root"/src/face/*.c \
    -o "$work/libomprma-runtime.so" "-L$work" -lomprma "-Wl,-rpath,$work" -Wl,-z,nodelete \
    "-Wl,--version-script=$root/src/openmp/exports.map" || exit 1

exported=$(nm -D --defined-only "$work/libomprma-runtime.so" | awk '$2 != "A" {print $3}' | sort)
listed=$(sed -e '/^#/d' -e 's/^libomp \(.*\)/\1@@VERSION/;t' \
    -e 's/^glibc \(.*\)/\1@@GLIBC_2.34/;t' -e 's/^also \(.*\)/\1@VERSION/;t' -e 's/$/@@VERS1.0/' \
    "$here/runtime_symbols.txt" | sort)
missing=$(comm -13 <(echo "$exported") <(echo "$listed"))
[ -z "$missing" ] || complain "programs look for these in vain: ${missing//$'\n'/ }"
extra=$(comm -23 <(echo "$exported") <(echo "$listed"))
[ -z "$extra" ] || complain "exported, but in no list: ${extra//$'\n'/ }"
foreign=$(nm -D --undefined-only "$work/libomprma-runtime.so" | awk '{print $2}' |
    grep -E '^(omprma_|P?MPI_)' | while read -r name; do
    grep -qE "OMPRMA_API .*\b$name\(" "$root"/include/omprma*/*.h || echo "$name"
done)
[ -z "$foreign" ] || complain "used, but in no header of omprma: ${foreign//$'\n'/ }"

for combination in 14: 14:preloaded 16: 22:preloaded; do
    version=${combination%:*} preload=
    libraries=$root/build/toolchains/llvm-$version/lib
    [ -e "$libraries/libomp.so.5" ] || continue
    for name in libomptarget.so libomptarget.so.16 libomptarget.so.22.1; do
        ln -sf ../libomprma-runtime.so "$work/runtime/$name"
    done
    [ "${combination#*:}" ] && preload=LD_PRELOAD=$work/runtime/libomptarget.so
    LOCAL_OMPRMA_DEVICES=2 "$root/tests/openmp/run" --llvm "$version" --tier all --runtime omprma \
        --launcher "env $preload LD_LIBRARY_PATH=$work/runtime:$libraries" || failed=1
    ran=1
done
[ $ran = 1 ] || exit 77
exit $failed
