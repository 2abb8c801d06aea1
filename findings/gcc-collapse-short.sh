#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gcc 12.2.0 with its libgomp, Debian 12, x86-64. Two loops of 300 iterations, in int or in short, are made one by
# collapse(2), which has 90,000.
# Guess: 90,000 iterations. short holds all that the loops' variables become, and the variable of the collapsed loop is
# the compiler's own: OpenMP leaves its type to the compiler, which has one that is wide enough.
# Seen: with short, signed or not, the static schedules, which are what one gets without a schedule clause, run 24,464
# iterations, 90,000 modulo 2^16, and two loops of 256 run none. So it is with constant bounds and with variables,
# at -O0 and at -O2, and -Wall -Wextra says nothing. With int, with schedule(dynamic) and in a taskloop all are run.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack_gcc

cat >"$folder/try.c" <<'C'
#include <stdio.h>

#define LOOPS(DIRECTIVE, TYPE, COUNT) \
    do { \
        int n = 0; \
        _Pragma(DIRECTIVE) for (TYPE i = 0; i < COUNT; i++) for (TYPE j = 0; j < COUNT; j++) \
        { \
            _Pragma("omp atomic") n++; \
        } \
        printf("%s, %s to %s: %d\n", DIRECTIVE, #TYPE, #COUNT, n); \
    } while (0)

int main(int argc, char **argv)
{
    short many = 299 + argc;

    (void)argv;
    LOOPS("omp parallel for collapse(2)", int, 300);
    LOOPS("omp parallel for collapse(2)", short, 300);
    LOOPS("omp parallel for collapse(2)", short, many);
    LOOPS("omp parallel for collapse(2)", unsigned short, 300);
    LOOPS("omp parallel for collapse(2)", unsigned short, 256);
    LOOPS("omp parallel for collapse(2) schedule(static, 8)", short, 300);
    LOOPS("omp parallel for collapse(2) schedule(dynamic)", short, 300);
    LOOPS("omp taskloop collapse(2) shared(n)", short, 300);
    return 0;
}
C
for level in -O0 -O2; do
    saw_gcc "$level"
    expect '^omp parallel for collapse\(2\), int to 300: 90000$'
    expect '^omp parallel for collapse\(2\), short to 300: 24464$'
    expect '^omp parallel for collapse\(2\), short to many: 24464$'
    expect '^omp parallel for collapse\(2\), unsigned short to 300: 24464$'
    expect '^omp parallel for collapse\(2\), unsigned short to 256: 0$'
    expect '^omp parallel for collapse\(2\) schedule\(static, 8\), short to 300: 24464$'
    expect '^omp parallel for collapse\(2\) schedule\(dynamic\), short to 300: 90000$'
    expect '^omp taskloop collapse\(2\) shared\(n\), short to 300: 90000$'
done
exit "$changed"
