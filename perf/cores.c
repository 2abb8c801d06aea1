/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cores.c: a region that only computes, on one device while no other is used, then, unless told
 * "one", on two at once, half of the work on each. Prints the least times in milliseconds. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 7, STEPS = 1000000 };

#pragma omp declare target
static double step(long i)
{
    double x = (double)i * 1e-9;
    for (int k = 0; k < 64; k++)
        x = x * 1.0000001 + 1e-7;
    return x;
}
#pragma omp end declare target

static void work(int device, long steps, double *last)
{
    double sum[1] = {0};
#pragma omp target teams distribute parallel for device(device) map(tofrom : sum)
    for (long i = 0; i < steps; i++) {
        double x = step(i);
        if (i == steps - 1 || x < 0)
            sum[0] = x;
    }
    *last = sum[0];
}

/* By a thread each, where there are two. */
static void work_all(int devices, long steps, double *last)
{
    if (devices == 1)
        work(0, steps, last);
    else
#pragma omp parallel num_threads(2)
        work(omp_get_thread_num(), steps / 2, &last[omp_get_thread_num()]);
}

int main(int count, char **words)
{
    int devices = count > 1 && strcmp(words[1], "one") == 0 ? 1 : 2;
    for (int used = 1; used <= devices; used++) {
        double least = 1e9, last[2] = {0};
        for (int i = 0; i < ROUNDS; i++) {
            double start = omp_get_wtime();
            work_all(used, STEPS, last);
            double time = omp_get_wtime() - start;
            least = time < least ? time : least;
        }
        if (last[0] <= 0)
            return 1;
        printf("%.3f ", 1e3 * least);
    }
    printf("\n");
}
