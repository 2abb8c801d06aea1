#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang 16.0.6 with LLVM's libomptarget and its device on the host, Debian 12, x86-64. A loop in a target region
# counts a volatile variable up to a limit, which the region has from the program.
# Guess: a volatile variable is read and written as the source says, whatever the level of optimization, so the loop
# makes five steps.
# Seen: with -O2 the variable keeps its first value, and only another condition ends the loop, after 100 steps:
# LLVM's pass for OpenMP takes the store away, as if the variable were an ordinary one. Without that other condition
# the region would never end. With -O0, with -mllvm -openmp-opt-disable, on the host, and with clang 14, 15, 19
# and 22 the loop makes five steps.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
version=1:16.0.6-15~deb12u1
unpack clang-16=$version clang-tools-16=$version llvm-16=$version libclang-cpp16=$version libllvm16=$version \
    libclang-common-16-dev=$version libomp-16-dev=$version libomp5-16=$version

cat >"$folder/try.c" <<'C'
#include <stdio.h>

int main(void)
{
    int limit = 5, steps = 0;
#pragma omp target map(tofrom : steps) firstprivate(limit)
    {
        volatile int turn = 0;
        while (turn < limit && steps < 100) {
            turn = turn + 1;
            steps++;
        }
    }
    printf("steps %d\n", steps);
    return 0;
}
C
clang_makes 16 -O2
saw env OMP_TARGET_OFFLOAD=MANDATORY timeout 60 "$folder/try"
expect '^steps 100$'
saw env OMP_TARGET_OFFLOAD=DISABLED timeout 60 "$folder/try"
expect '^steps 5$'
clang_makes 16 -O0
saw env OMP_TARGET_OFFLOAD=MANDATORY timeout 60 "$folder/try"
expect '^steps 5$'
clang_makes 16 -O2 -mllvm -openmp-opt-disable
saw env OMP_TARGET_OFFLOAD=MANDATORY timeout 60 "$folder/try"
expect '^steps 5$'
exit "$changed"
