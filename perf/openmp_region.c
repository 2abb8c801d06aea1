/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * openmp_region.c: how long an OpenMP target region takes that maps one scalar to the device and
 * back: what omprma-perf calls "region", with libomptarget in front of it. Checks the result of
 * every region. See perf/openmp-region.
 *
 *   openmp_region [REGIONS]     prints "RESULT REGIONS US_MIN US_MEDIAN US_P99"
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WARM_UP = 200 };

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* omp_get_wtime() has steps of about a microsecond here. */
static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static long region(long x)
{
#pragma omp target map(tofrom : x)
    x += 1;
    return x;
}

int main(int argc, char **argv)
{
    int regions = argc > 1 ? atoi(argv[1]) : 2000;
    double *us = regions > 0 ? calloc((size_t)regions, sizeof(*us)) : NULL;
    if (!us || omp_get_num_devices() < 1) {
        fprintf(stderr, "openmp_region: needs a number of regions and a device\n");
        return 2;
    }
    for (int i = -WARM_UP; i < regions; i++) {
        double begin = now_us();
        long x = region(i);
        double end = now_us();
        if (x != i + 1) {
            fprintf(stderr, "openmp_region: region %d returned %ld\n", i, x);
            return 1;
        }
        if (i >= 0)
            us[i] = end - begin;
    }
    qsort(us, (size_t)regions, sizeof(*us), by_value);
    printf("RESULT %d %.4f %.4f %.4f\n", regions, us[0], us[regions / 2],
           us[(int)(0.99 * regions)]);
    free(us);
    return 0;
}
