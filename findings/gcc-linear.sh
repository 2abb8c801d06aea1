#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gcc 12.2.0 with its libgomp and clang 16.0.6 with its libomp, Debian 12, x86-64. Loops of ten iterations read x, which
# is 3 before, and linear(x: 2), and do not change it.
# Guess: iteration i sees 3 + 2 * i, and x is 21 behind the loop, for OpenMP says that an iteration's value is that from
# before the loop plus the iteration's number times the step, and that the last one's comes out.
# Seen: clang does so. In gcc's simd loop each iteration sees 3, and 3 comes out. In its parallel loop the first
# iteration of each thread's share is right, and the others see the same: 3 and 13 with two threads, 3 with one. So what
# is computed depends on the number of threads. Where the body adds the step as well, as one would without OpenMP, both
# give 3 to 21. Nothing is said, also with -Wall -Wextra.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack_gcc
unpack_clang 16

cat >"$folder/try.c" <<'C'
#include <stdio.h>

#define LOOP(WHAT, DIRECTIVE, ...) \
    do { \
        int x = 3, seen[10]; \
        _Pragma(DIRECTIVE) for (int i = 0; i < 10; i++) \
        { \
            seen[i] = x; \
            __VA_ARGS__; \
        } \
        printf("%s:", WHAT); \
        for (int i = 0; i < 10; i++) \
            printf(" %d", seen[i]); \
        printf(", then %d\n", x); \
    } while (0)

int main(void)
{
    LOOP("simd", "omp simd linear(x : 2)", (void)0);
    LOOP("two threads", "omp parallel for linear(x : 2)", (void)0);
    LOOP("one thread", "omp parallel for linear(x : 2) num_threads(1)", (void)0);
    LOOP("two threads that add", "omp parallel for linear(x : 2)", x += 2);
    return 0;
}
C
right='3 5 7 9 11 13 15 17 19 21, then'
for level in -O0 -O2; do
    saw_gcc $level
    expect '^simd: 3 3 3 3 3 3 3 3 3 3, then 3$'
    expect '^two threads: 3 3 3 3 3 13 13 13 13 13, then 13$'
    expect '^one thread: 3 3 3 3 3 3 3 3 3 3, then 3$'
    expect "^two threads that add: $right 23\$"
    saw_clang 16 $level
    expect "^simd: $right 21\$"
    expect "^two threads: $right 21\$"
    expect "^one thread: $right 21\$"
    expect "^two threads that add: $right 23\$"
done
exit "$changed"
