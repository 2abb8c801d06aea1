#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang 16.0.6 and 19.1.7 with their libomp, Debian 12, x86-64; clang 14 is the same. collapse(2) over a triangle, whose
# inner loop begins at the outer one's variable, and ends at 10: `j != 10` in one program, `j < 10` in another.
# Guess: 55 iterations. OpenMP 5.0 allows both, and with steps of 1 they mean the same, as they do in gcc.
# Seen: 55 with "<". With "!=" 91 iterations are run, and j goes up to 18, beyond the end of the loop and of what the
# program has there, also with collapse(2) of a simd loop, at -O0 and at -O2, and -Wall -Wextra says nothing. clang runs
# the rectangle around the triangle and leaves iterations out by the inner loop's own condition, which holds behind the
# end, too. Rectangles are right with "!=", and the outer loop may have it.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack_clang 16 19

cat >"$folder/try.c" <<'C'
#include <stdio.h>

#define LOOPS(DIRECTIVE, OUTER, INNER) \
    do { \
        int n = 0, last = -1; \
        _Pragma(DIRECTIVE) OUTER INNER \
        { \
            n++; \
            last = j > last ? j : last; \
        } \
        printf("%s, %s %s: %d, j up to %d\n", DIRECTIVE, #OUTER, #INNER, n, last); \
    } while (0)

#define PARALLEL "omp parallel for collapse(2) reduction(+ : n) reduction(max : last)"
#define SIMD "omp simd collapse(2) reduction(+ : n) reduction(max : last)"

int main(void)
{
    LOOPS(PARALLEL, for (int i = 0; i < 10; i++), for (int j = i; j < 10; j++));
    LOOPS(PARALLEL, for (int i = 0; i != 10; i++), for (int j = i; j < 10; j++));
    LOOPS(PARALLEL, for (int i = 0; i < 10; i++), for (int j = 0; j != 10; j++));
    LOOPS(PARALLEL, for (int i = 0; i < 10; i++), for (int j = i; j != 10; j++));
    LOOPS(SIMD, for (int i = 0; i < 10; i++), for (int j = i; j < 10; j++));
    LOOPS(SIMD, for (int i = 0; i < 10; i++), for (int j = i; j != 10; j++));
    return 0;
}
C
for version in 16 19; do
    for level in -O0 -O2; do
        saw_clang $version $level
        expect '^omp parallel .* i < 10; .* j = i; j < 10; .*: 55, j up to 9$'
        expect '^omp parallel .* i != 10; .* j = i; j < 10; .*: 55, j up to 9$'
        expect '^omp parallel .* j = 0; j != 10; .*: 100, j up to 9$'
        expect '^omp parallel .* j = i; j != 10; .*: 91, j up to 18$'
        expect '^omp simd .* j = i; j < 10; .*: 55, j up to 9$'
        expect '^omp simd .* j = i; j != 10; .*: 91, j up to 18$'
    done
done
exit "$changed"
