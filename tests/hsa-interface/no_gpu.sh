#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Programs with code for AMD GPUs, by each compiler that is there, where no worker has one: no devices, nothing is
# said, and the host computes. Where it must not, a line says why, and where to look.
# Of LLVMs the seed picks one beside the newest; VERSIONS="14 15" names others.
set -euo pipefail
# shellcheck source=tests/hsa-interface/common.sh
. "$SOURCE_DIR/tests/hsa-interface/common.sh"
[ ! -e /dev/kfd ] || { echo 'skipped: there is an AMD GPU' && exit 77; }
status=0
tried=

# quiet NAME LIBRARIES: the program runs on the host, and says nothing else
quiet() {
    tried+=" $1"
    local said
    said=$(LD_LIBRARY_PATH=$2 OMP_TARGET_OFFLOAD=DEFAULT timeout 60 "$BUILD_DIR/bin/omprma-run" -n 1 "$work/$1" 2>&1) || true
    [ "$said" = '0 devices, right' ] || { echo "$1 without a GPU: $said" && status=1; }
}

# told NAME LIBRARIES: the program ends, and the reason stands before that
told() {
    local said
    ! said=$(LD_LIBRARY_PATH=$2 timeout 60 "$BUILD_DIR/bin/omprma-run" -n 1 "$work/$1" 2>&1) ||
        { echo "$1 ran on the host although it must not: $said" && status=1; }
    grep -q '^omprma: error: no worker has an AMD GPU that it can use (1 device of other kinds)' <<<"$said" ||
        { echo "$1 does not say why: $said" && status=1; }
}

clang() { # VERSION
    local options=(-nogpulib -Xoffload-linker-amdgcn-amd-amdhsa --unresolved-symbols=ignore-all)
    case $1 in
    14) options=() ;;
    19) options[2]=-Wl,--unresolved-symbols=ignore-all ;;
    esac
    PATH=/usr/lib/llvm-$1/bin:$PATH "$SOURCE_DIR/build/toolchains/llvm-$1/bin/clang" -w -O1 -fopenmp \
        -fopenmp-targets=amdgcn-amd-amdhsa -Xopenmp-target=amdgcn-amd-amdhsa -march=gfx90a "${options[@]}" \
        -D__INTEL_LLVM_COMPILER -DSYCL_LANGUAGE_VERSION "$here/no_gpu.c" -o "$work/clang-$1"
}

versions=()
for version in 14 15 16 19 22; do
    [ -x "$SOURCE_DIR/build/toolchains/llvm-$version/bin/clang" ] || continue
    [ -x "/usr/lib/llvm-$version/bin/ld.lld" ] || continue
    [ "$version" != 14 ] || [ -e "$SOURCE_DIR/build/toolchains/llvm-14/lib/libomptarget-new-amdgpu-gfx90a.bc" ] || continue
    versions+=("$version")
done
first=$((${OMPRMA_TEST_SEED:-1} % (${#versions[@]} + 1)))
[ -z "${VERSIONS:-}" ] || read -ra versions <<<"$VERSIONS"
[ -n "${VERSIONS:-}" ] || versions=("${versions[@]:first:1}" "${versions[@]: -1:1}")
for version in "${versions[@]}"; do
    clang "$version"
    quiet "clang-$version" "$SOURCE_DIR/build/toolchains/llvm-$version/lib"
    told "clang-$version" "$SOURCE_DIR/build/toolchains/llvm-$version/lib"
done
if gcc-12 -print-file-name=accel/amdgcn-amdhsa/mkoffload 2>/dev/null | grep -q /; then
    gcc-12 -w -O1 -fopenmp -foffload=amdgcn-amdhsa -foffload-options=-march=gfx906 "$here/no_gpu.c" -o "$work/gcc" 2>/dev/null
    quiet gcc ''
fi
if [ -e /usr/include/hip/hip_runtime_api.h ]; then
    "${CC:-cc}" -w -DHIP -D__HIP_PLATFORM_AMD__ "$here/no_gpu.c" -o "$work/hip" -lamdhip64
    quiet hip ''
fi
[ -n "$tried" ] || { echo 'skipped: no compiler for AMD GPUs' && exit 77; }
exit $status
