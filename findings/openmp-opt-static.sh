#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang 14.0.6 with LLVM's libomptarget and its device on the host, Debian 12, x86-64. A function between `declare
# target` and its end has a static variable and counts it up; three target regions call it, one after the other.
# Guess: the device's variable lives as long as the device image does, as a static one does anywhere, so the calls
# return 1, 2 and 3, whatever the level of optimization.
# Seen: from -O1 on they return 1, 1 and 1, although no region has run on the host. With -O0, on the host, and with
# LLVM's pass for OpenMP switched off (-mllvm -openmp-opt-disable) they return 1, 2 and 3.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
version=1:14.0.6-12
unpack clang-14=$version clang-tools-14=$version llvm-14=$version libclang-cpp14=$version libllvm14=$version \
    libclang-common-14-dev=$version libomp-14-dev=$version libomp5-14=$version llvm-14-linker-tools=$version

cat >"$folder/try.c" <<'C'
#include <stdio.h>

#pragma omp declare target
static int count(void)
{
    static int calls;
    return ++calls;
}
#pragma omp end declare target

int main(void)
{
    int seen[3];
    for (int i = 0; i < 3; i++) {
        int now = 0;
#pragma omp target map(from : now)
        now = count();
        seen[i] = now;
    }
    printf("calls %d %d %d\n", seen[0], seen[1], seen[2]);
    return 0;
}
C
clang_makes 14 -O1
saw env OMP_TARGET_OFFLOAD=MANDATORY timeout 60 "$folder/try"
expect '^calls 1 1 1$'
saw env OMP_TARGET_OFFLOAD=DISABLED timeout 60 "$folder/try"
expect '^calls 1 2 3$'
clang_makes 14 -O0
saw env OMP_TARGET_OFFLOAD=MANDATORY timeout 60 "$folder/try"
expect '^calls 1 2 3$'
clang_makes 14 -O1 -mllvm -openmp-opt-disable
saw env OMP_TARGET_OFFLOAD=MANDATORY timeout 60 "$folder/try"
expect '^calls 1 2 3$'
exit "$changed"
