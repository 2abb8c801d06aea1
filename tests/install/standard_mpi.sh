#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A build for MPI's standard interface. Where its mpi.h is, it runs with each library that has this interface, by the
# launcher of that library; else CMake says what is missing.
set -u
# shellcheck source=tests/install/common.sh
. "$(dirname "$0")/common.sh"

failed() { # WORDS
    [ ! -s "$work/log" ] || tail -n 20 "$work/log"
    fail "$@"
}

cmake -G Ninja -S "$SOURCE_DIR" -B "$work/build" "-DCMAKE_C_COMPILER=$CC" -DOMPRMA_MPI=abi -DOMPRMA_TESTS=OFF \
    -DOMPRMA_LTO=OFF >"$work/log" 2>&1
status=$?
if tr -s ' \n' ' ' <"$work/log" | grep -q 'OMPRMA_MPI=abi needs the standard mpi.h of MPI 5, .*libmpi_abi.so'; then
    [ $status != 0 ] || failed 'CMake goes on without the standard mpi.h'
    echo 'there is no standard mpi.h here: CMake says so, and the rest was not tried'
    exit
fi
[ $status = 0 ] || failed 'cmake'
cmake --build "$work/build" --target runtime >"$work/log" 2>&1 || failed 'the build'

tried=0
for library in "$(dirname "$(ldconfig -p | sed -n 's/.*libmpi_abi\.so\.1 .*=> //p' | head -n 1)")"/libmpi_abi_*.so.1*; do
    [ -e "$library" ] || continue
    kind=$(basename "$library" | sed 's/libmpi_abi_\(.*\)\.so.*/\1/')
    mkdir -p "$work/$kind"
    ln -sf "$library" "$work/$kind/libmpi_abi.so.1"
    LD_LIBRARY_PATH=$work/$kind OMPRMA_MEMORY=64M timeout 60 "$work/build/bin/omprma-info" --transport mpi -n 2 >"$work/log" 2>&1 ||
        failed "two workers with $kind"
    grep -qi "^MPI  *${kind/open/open }" "$work/log" || failed "the library's name with $kind"
    tried=$((tried + 1))
done
[ $tried -gt 0 ] || failed 'no library with the standard interface was found'
echo "tried with $tried libraries"
