#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang 16.0.6 with LLVM's libomptarget and its device on the host, Debian 12, x86-64. A target region with nowait
# waits for a task, and has firstprivate copies of four variables, which the program changes meanwhile.
# Guess: the copies are made when the program meets the construct, as OpenMP says and as every other task does, so
# the region sees the values of then.
# Seen: that holds for the scalar only. The region sees the structures and the array as they are when it begins,
# also a structure of one word: clang hands the runtime the addresses of the program's variables. With
# OMP_TARGET_OFFLOAD=DISABLED the same program sees all values of then.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
version=1:16.0.6-15~deb12u1
unpack clang-16=$version clang-tools-16=$version llvm-16=$version libclang-cpp16=$version libllvm16=$version \
    libclang-common-16-dev=$version libomp-16-dev=$version libomp5-16=$version

cat >"$folder/try.c" <<'C'
#include <omp.h>
#include <stdio.h>

struct pair {
    long a, b;
};
struct word {
    long a;
};

int main(void)
{
    long scalar = 1, array[2] = {1, 1}, seen[4] = {0};
    struct pair pair = {1, 1};
    struct word word = {1};
    int changed = 0, order = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out : order) shared(changed)
        for (int now = 0; !now;) {
#pragma omp atomic read
            now = changed;
        }
#pragma omp target nowait depend(in : order) firstprivate(scalar, word, pair, array) map(from : seen)
        {
            seen[0] = scalar;
            seen[1] = word.a;
            seen[2] = pair.b;
            seen[3] = array[1];
        }
        scalar = word.a = pair.b = array[1] = 2;
#pragma omp atomic write
        changed = 1;
#pragma omp taskwait
    }
    printf("scalar %ld, structure of one word %ld, of two %ld, array %ld\n", seen[0], seen[1], seen[2], seen[3]);
    return 0;
}
C
libraries=$folder/usr/lib/llvm-16/lib
export LD_LIBRARY_PATH="$libraries:$folder/usr/lib/x86_64-linux-gnu" PATH="$folder/usr/lib/llvm-16/bin:$PATH"
if ! clang -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "-L$libraries" "$folder/try.c" -o "$folder/try" \
    >"$folder/log" 2>&1; then
    tail -n 3 "$folder/log"
    exit 77
fi
saw env OMP_NUM_THREADS=2 OMP_TARGET_OFFLOAD=MANDATORY timeout 60 "$folder/try"
expect '^scalar 1, structure of one word 2, of two 2, array 2$'
saw env OMP_NUM_THREADS=2 OMP_TARGET_OFFLOAD=DISABLED timeout 60 "$folder/try"
expect '^scalar 1, structure of one word 1, of two 1, array 1$'
exit "$changed"
