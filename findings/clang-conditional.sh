#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang 16.0.6 and 19.1.7 with their libomp, Debian 12, x86-64, and gcc 12.2.0. lastprivate(conditional: x) in a
# parallel loop of 100 iterations: x is to have the value of the last assignment that was made, as in OpenMP 5.0.
# Guess: the value that the loop leaves without OpenMP, whichever thread made the assignment.
# Seen: gcc does so. With clang that holds only where the thread of the last iteration assigns last. Where x is assigned
# in the first half only, which is the first of two threads', bytes that nobody has set come out; with schedule(static,
# 1) and four threads, 47 comes instead of 49, the last one of the last thread. It is so at -O0 and at -O2, and -Wall
# -Wextra says nothing.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack_gcc
unpack_clang 16 19

cat >"$folder/try.c" <<'C'
#include <stdio.h>

#define LOOP(DIRECTIVE, CONDITION, LAST) \
    do { \
        int x = -1; \
        _Pragma(DIRECTIVE) for (int i = 0; i < 100; i++) \
        { \
            if (CONDITION) \
                x = i; \
        } \
        printf("%s, %s: %s", DIRECTIVE, #CONDITION, x == LAST ? "right" : "wrong"); \
        if (x >= 0 && x < 100) \
            printf(", %d", x); \
        printf("\n"); \
    } while (0)

int main(void)
{
    LOOP("omp parallel for lastprivate(conditional: x)", i % 7 == 3, 94);
    LOOP("omp parallel for lastprivate(conditional: x)", i < 30, 29);
    LOOP("omp parallel for lastprivate(conditional: x) num_threads(4) schedule(static, 1)", i < 50, 49);
    return 0;
}
C
for level in -O0 -O2; do
    saw_gcc $level
    expect ', i % 7 == 3: right, 94$'
    expect ', i < 30: right, 29$'
    expect 'static, 1\), i < 50: right, 49$'
    for version in 16 19; do
        saw_clang $version $level
        expect ', i % 7 == 3: right, 94$'
        expect ', i < 30: wrong'
        expect 'static, 1\), i < 50: wrong, 47$'
    done
done
exit "$changed"
