#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang 16.0.6 and 19.1.7 with their libomp, Debian 12, x86-64; clang 14 is the same. A parallel loop of 100 iterations
# for two threads, with a chunk of 8 and the modifier "simd", which asks for chunks that suit the vectors.
# Guess: each iteration is run once. The modifier only lets the runtime make a chunk larger.
# Seen: with schedule(simd: static, 8) the bodies are run 5,050 times, which is 1 + 2 + ... + 100, and some iterations
# nearly a hundred times, with "parallel for" and with "parallel for simd", at -O0 and at -O2, and -Wall -Wextra says
# nothing. libomp gives each thread one large piece and a stride of 1, but the compiled code goes from chunk to chunk by
# the stride. With one thread, without the chunk, without "simd", and with dynamic, it is 100.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack_clang 16 19

cat >"$folder/try.c" <<'C'
#include <stdio.h>

#define LOOP(DIRECTIVE) \
    do { \
        int n = 0; \
        _Pragma(DIRECTIVE) for (int i = 0; i < 100; i++) \
        { \
            _Pragma("omp atomic") n++; \
        } \
        printf("%s: %d\n", DIRECTIVE, n); \
    } while (0)

int main(void)
{
    LOOP("omp parallel for schedule(static, 8)");
    LOOP("omp parallel for simd schedule(static, 8)");
    LOOP("omp parallel for schedule(simd: static)");
    LOOP("omp parallel for schedule(simd: dynamic, 8)");
    LOOP("omp parallel for schedule(simd: static, 8) num_threads(1)");
    LOOP("omp parallel for schedule(simd: static, 8)");
    LOOP("omp parallel for simd schedule(simd: static, 8)");
    return 0;
}
C
for version in 16 19; do
    for level in -O0 -O2; do
        saw_clang $version $level
        expect '^omp parallel for schedule\(static, 8\): 100$'
        expect '^omp parallel for simd schedule\(static, 8\): 100$'
        expect '^omp parallel for schedule\(simd: static\): 100$'
        expect '^omp parallel for schedule\(simd: dynamic, 8\): 100$'
        expect '^omp parallel for schedule\(simd: static, 8\) num_threads\(1\): 100$'
        expect '^omp parallel for schedule\(simd: static, 8\): 5050$'
        expect '^omp parallel for simd schedule\(simd: static, 8\): 5050$'
    done
done
exit "$changed"
