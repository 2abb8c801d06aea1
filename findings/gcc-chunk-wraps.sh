#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gcc 12.2.0 with its libgomp, Debian 12, x86-64. A parallel loop over the letters, `for (char c = 'a'; c <= 'z'; c++)`,
# or over 100 numbers, with a static schedule whose chunk is larger than the loop, so the first thread has all of it.
# Guess: 26 letters and 100 numbers, each once, as the chunk says only who does which iteration, and how many at a time.
# Seen: with schedule(static, 100) two threads run 208 iterations, 156 of them with chars that are no letters. gcc
# counts where a thread's next chunk begins, the thread's number times the chunk, in the loop variable's type, and goes
# on when that wraps. For int and unsigned the chunk is large where it happens: INT_MAX, as one who wants no chunks may
# write it, makes three threads run -2 and -1. It is so at -O0 and at -O2, and -Wall -Wextra says nothing.
# schedule(dynamic, 100) is right, and so is a chunk of 26.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack_gcc

cat >"$folder/try.c" <<'C'
#include <stdio.h>

static int outside(long i, long first, long last)
{
    return i < first || i > last;
}

/* How often the body is run, and how often with a value that is not the loop's. */
#define LOOP(DIRECTIVE, FIRST, LAST, HEAD) \
    do { \
        int n = 0, foreign = 0; \
        _Pragma(DIRECTIVE) HEAD \
        { \
            _Pragma("omp atomic") n++; \
            if (outside(i, FIRST, LAST)) { \
                _Pragma("omp atomic") foreign++; \
            } \
        } \
        printf("%s %s: %d, %d of them foreign\n", DIRECTIVE, #HEAD, n, foreign); \
    } while (0)

int main(void)
{
    LOOP("omp parallel for schedule(static, 26)", 'a', 'z', for (char i = 'a'; i <= 'z'; i++));
    LOOP("omp parallel for schedule(dynamic, 100)", 'a', 'z', for (char i = 'a'; i <= 'z'; i++));
    LOOP("omp parallel for schedule(static, 100)", 'a', 'z', for (char i = 'a'; i <= 'z'; i++));
    LOOP("omp parallel for num_threads(3) schedule(static, 100000000)", 0, 99, for (int i = 0; i < 100; i++));
    LOOP("omp parallel for num_threads(3) schedule(static, 2147483647)", 0, 99, for (int i = 0; i < 100; i++));
    LOOP("omp parallel for num_threads(5) schedule(static, 1073741824)", 0, 99, for (unsigned i = 0; i < 100; i++));
    LOOP("omp parallel for num_threads(5) schedule(static, 1073741824)", 0, 99, for (long i = 0; i < 100; i++));
    return 0;
}
C
for level in -O0 -O2; do
    saw_gcc "$level"
    expect "^omp parallel for schedule\\(static, 26\\) .*: 26, 0 of them foreign\$"
    expect "^omp parallel for schedule\\(dynamic, 100\\) .*: 26, 0 of them foreign\$"
    expect "^omp parallel for schedule\\(static, 100\\) .*: 208, "
    expect '^omp parallel .*static, 100000000\) .*int i.*: 100, 0 of them foreign$'
    expect '^omp parallel .*static, 2147483647\) .*int i.*: 202, 2 of them foreign$'
    expect '^omp parallel .*static, 1073741824\) .*unsigned i.*: 200, 0 of them foreign$'
    expect '^omp parallel .*static, 1073741824\) .*long i.*: 100, 0 of them foreign$'
done
exit "$changed"
