/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* nowait.c: constructs in flight, from one thread and from several. What the tool beside it is told
 * comes in any order, so the tool checks it by itself, and counts. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000, ROUNDS = 10 };

int main(void)
{
    static double a[N], b[4][N];
    int right = 1, last = omp_get_num_devices() - 1;

    for (int round = 0; round < ROUNDS; round++) {
#pragma omp target enter data map(to : a) nowait depend(out : a)
#pragma omp target map(tofrom : a) nowait depend(inout : a)
        a[0]++;
#pragma omp target update from(a [0:10]) nowait depend(in : a)
#pragma omp target update to(a [20:10]) nowait depend(inout : a)
#pragma omp target exit data map(from : a) nowait depend(inout : a)
#pragma omp target map(tofrom : b[0]) nowait depend(inout : b) device(last)
        b[0][0]++;
#pragma omp taskwait
        right &= a[0] == round + 1 && b[0][0] == round + 1;
    }
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 4; i++)
        for (int round = 0; round < ROUNDS; round++) {
#pragma omp target map(tofrom : b[i]) nowait
            b[i][1]++;
#pragma omp taskwait
#pragma omp target map(tofrom : b[i])
            b[i][1]++;
        }
    for (int i = 0; i < 4; i++)
        right &= b[i][1] == 2 * ROUNDS;
    printf("%s\n", right ? "right" : "wrong");
    return !right;
}
