/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * check.c: what a small region, an allocation with its free, a 1 MiB submit and a 1 MiB region
 * take, for perf/check, which runs it with OMPRMA_CHECK off and full. Checks its results.
 *
 *   check [SCALE]     prints lines "RESULT CASE MICROSECONDS", medians
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SAMPLES = 1000, LARGE_SAMPLES = 200, ELEMENTS = (1 << 20) / sizeof(int) };

static int small, *large;
static void *there;

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void region(void)
{
#pragma omp target map(tofrom : small)
    small++;
}

static void allocation(void)
{
    omp_target_free(omp_target_alloc(4096, 0), 0);
}

static void submit(void)
{
    if (omp_target_memcpy(there, large, ELEMENTS * sizeof(*large), 0, 0, 0,
                          omp_get_initial_device()))
        exit(1);
}

static void large_region(void)
{
    int *p = large;
#pragma omp target map(tofrom : p [0:ELEMENTS])
    p[7]++;
}

static void measure(const char *name, void (*run)(void), int count)
{
    double *us = calloc((size_t)count, sizeof(*us));
    for (int i = -20; i < count; i++) {
        double begin = now_us();
        run();
        if (i >= 0)
            us[i] = now_us() - begin;
    }
    qsort(us, (size_t)count, sizeof(*us), by_value);
    printf("RESULT %s %.4f\n", name, us[count / 2]);
    free(us);
}

int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 1;
    large = calloc(ELEMENTS, sizeof(*large));
    there = omp_target_alloc(ELEMENTS * sizeof(*large), 0);
    measure("region", region, SAMPLES * scale);
    measure("alloc-free", allocation, SAMPLES * scale);
    measure("submit-1MiB", submit, LARGE_SAMPLES * scale);
    measure("region-1MiB", large_region, LARGE_SAMPLES * scale);
    omp_target_free(there, 0);
    if (small != SAMPLES * scale + 20 || large[7] != LARGE_SAMPLES * scale + 20) {
        fprintf(stderr, "check: wrong result\n");
        return 1;
    }
    free(large);
    return 0;
}
