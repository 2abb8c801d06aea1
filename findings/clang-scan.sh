#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang 16.0.6 and 19.1.7 with their libomp, Debian 12, x86-64, and gcc 12.2.0. A running sum by reduction(inscan, +:
# sum) and "omp scan" in a loop of eight iterations, each of which adds 1. The sum is 100 before the loop.
# Guess: 101 to 108, and 108 behind the loop, as without OpenMP: a scan begins with the value from before the loop, as
# any reduction adds it.
# Seen: gcc does so. In a parallel loop clang forgets the 100: 1 to 8, and 8 behind the loop; with an exclusive scan 0
# to 7. In a simd loop of the same body, and in a parallel loop that begins with 0, it is right. It is so at -O0 and at
# -O2, and -Wall -Wextra says nothing.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack_gcc
unpack_clang 16 19

cat >"$folder/try.c" <<'C'
#include <stdio.h>

static int seen[8];

static void show(const char *what, int sum)
{
    printf("%s: %d to %d, then %d\n", what, seen[0], seen[7], sum);
}

int main(void)
{
    int sum = 100;

#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < 8; i++) {
        sum += 1;
#pragma omp scan inclusive(sum)
        seen[i] = sum;
    }
    show("parallel", sum);
    sum = 100;
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < 8; i++) {
        seen[i] = sum;
#pragma omp scan exclusive(sum)
        sum += 1;
    }
    show("parallel, exclusive", sum);
    sum = 100;
#pragma omp simd reduction(inscan, + : sum)
    for (int i = 0; i < 8; i++) {
        sum += 1;
#pragma omp scan inclusive(sum)
        seen[i] = sum;
    }
    show("simd", sum);
    return 0;
}
C
for level in -O0 -O2; do
    saw_gcc $level
    expect '^parallel: 101 to 108, then 108$'
    expect '^parallel, exclusive: 100 to 107, then 108$'
    expect '^simd: 101 to 108, then 108$'
    for version in 16 19; do
        saw_clang $version $level
        expect '^parallel: 1 to 8, then 8$'
        expect '^parallel, exclusive: 0 to 7, then 8$'
        expect '^simd: 101 to 108, then 108$'
    done
done
exit "$changed"
