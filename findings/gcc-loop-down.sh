#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gcc 12.2.0 with its libgomp, Debian 12, x86-64. A parallel loop counts down from 24 to 15 in an unsigned int, as in
# `for (unsigned i = 24; i > 14; i--)`. OpenMP allows unsigned loop variables.
# Guess: ten iterations, whatever the schedule, which says only who does which iteration, and how many at a time.
# Seen: ten with schedule(static), and with static and a chunk. None at all with dynamic, guided and runtime, with
# ordered, and in a taskloop, at -O0 and at -O2, and -Wall -Wextra says nothing: the step reaches libgomp as 4294967295
# in a long, so the loop counts up and its end lies behind it. A loop that counts up, one with size_t, which is as wide
# as a long, one with int, and one with collapse(2) have all of their iterations.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack_gcc

cat >"$folder/try.c" <<'C'
#include <stddef.h>
#include <stdio.h>

#define LOOP(DIRECTIVE, HEAD) \
    do { \
        int n = 0; \
        _Pragma(DIRECTIVE) HEAD \
        { \
            _Pragma("omp atomic") n++; \
        } \
        printf("%s %s: %d\n", DIRECTIVE, #HEAD, n); \
    } while (0)

int main(void)
{
    LOOP("omp parallel for schedule(static)", for (unsigned i = 24; i > 14; i--));
    LOOP("omp parallel for schedule(static, 2)", for (unsigned i = 24; i > 14; i--));
    LOOP("omp parallel for schedule(dynamic)", for (unsigned i = 24; i > 14; i--));
    LOOP("omp parallel for schedule(guided)", for (unsigned i = 24; i > 14; i--));
    LOOP("omp parallel for schedule(runtime)", for (unsigned i = 24; i > 14; i--));
    LOOP("omp parallel for ordered", for (unsigned i = 24; i > 14; i--));
    LOOP("omp taskloop shared(n)", for (unsigned i = 24; i > 14; i--));
    LOOP("omp parallel for schedule(dynamic)", for (unsigned i = 15; i < 25; i++));
    LOOP("omp parallel for schedule(dynamic)", for (size_t i = 24; i > 14; i--));
    LOOP("omp parallel for schedule(dynamic)", for (int i = 24; i > 14; i--));
    LOOP("omp parallel for schedule(dynamic) collapse(2)", for (unsigned i = 24; i > 14; i--) for (int j = 0; j < 2; j++));
    return 0;
}
C
for level in -O0 -O2; do
    saw_gcc "$level"
    expect '^omp parallel for schedule\(static\) .*unsigned i = 24.*: 10$'
    expect '^omp parallel for schedule\(static, 2\) .*unsigned i = 24.*: 10$'
    expect '^omp parallel for schedule\(dynamic\) .*unsigned i = 24.*: 0$'
    expect '^omp parallel for schedule\(guided\) .*unsigned i = 24.*: 0$'
    expect '^omp parallel for schedule\(runtime\) .*unsigned i = 24.*: 0$'
    expect '^omp parallel for ordered .*unsigned i = 24.*: 0$'
    expect '^omp taskloop .*unsigned i = 24.*: 0$'
    expect '^omp parallel for schedule\(dynamic\) .*unsigned i = 15.*: 10$'
    expect '^omp parallel for schedule\(dynamic\) .*size_t i = 24.*: 10$'
    expect '^omp parallel for schedule\(dynamic\) .*int i = 24.*: 10$'
    expect '^omp parallel for schedule\(dynamic\) collapse\(2\) .*unsigned i = 24.*: 20$'
done
exit "$changed"
