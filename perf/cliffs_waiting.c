/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cliffs_waiting.c: what small regions take where more threads wait or compute than there are
 * processors: a region that forks, and regions of several threads on several devices. Prints lines
 * "RESULT ROW MICROSECONDS", per region. Run by perf/cliffs, also with LLVM's own device.
 *
 *   cliffs_waiting [REGIONS]     with a number only so many regions one after the other: prints
 * "REGIONS MICROSECONDS MEMORY", per region and in MiB, what most of the program was resident
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { WARM = 50, REGIONS = 4000, ITERATIONS = 64 };

static const double seconds = 0.3;
static double v[ITERATIONS];

static void small_region(int device)
{
    int x = 0;

#pragma omp target map(tofrom : x) device(device)
    x++;
}

/* One region after the other, with a team of so many threads, or of several teams. */
static double forking(int threads)
{
    double begun = 0;

    for (int i = -WARM; i < REGIONS; i++) {
        if (i == 0)
            begun = omp_get_wtime();
#pragma omp target parallel for num_threads(threads) device(0)
        for (int k = 0; k < ITERATIONS; k++)
            v[k] += 1;
    }
    return (omp_get_wtime() - begun) / REGIONS * 1e6;
}

static double teams(void)
{
    double begun = 0;

    for (int i = -WARM; i < REGIONS; i++) {
        if (i == 0)
            begun = omp_get_wtime();
#pragma omp target teams distribute parallel for device(0)
        for (int k = 0; k < ITERATIONS; k++)
            v[k] += 1;
    }
    return (omp_get_wtime() - begun) / REGIONS * 1e6;
}

/* So many threads with regions of their own, on so many devices. Before the others: teams of
 * regions that have ended poll for a while. */
static double several(int threads, int devices)
{
    long total = 0;

#pragma omp parallel num_threads(threads) reduction(+ : total)
    {
        int device = omp_get_thread_num() % devices;

        small_region(device);
#pragma omp barrier
        for (double end = omp_get_wtime() + seconds; omp_get_wtime() < end; total++)
            small_region(device);
    }
    return seconds / (double)total * 1e6;
}

static int one_by_one(long regions)
{
    struct rusage usage;
    double begun;

    small_region(0);
    begun = omp_get_wtime();
    for (long i = 0; i < regions; i++)
        small_region(0);
    double us = (omp_get_wtime() - begun) / (double)regions * 1e6;
    getrusage(RUSAGE_SELF, &usage);
    printf("REGIONS %.4f %.1f\n", us, (double)usage.ru_maxrss / 1024);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return one_by_one(atol(argv[1]));
#pragma omp target enter data map(to : v) device(0)
    printf("RESULT 1-thread-on-1-device %.3f\n", several(1, 1));
    printf("RESULT 2-threads-on-1-device %.3f\n", several(2, 1));
    printf("RESULT 8-threads-on-1-device %.3f\n", several(8, 1));
    if (omp_get_num_devices() >= 2) {
        printf("RESULT 2-threads-on-2-devices %.3f\n", several(2, 2));
        printf("RESULT 4-threads-on-2-devices %.3f\n", several(4, 2));
    }
    if (omp_get_num_devices() >= 4)
        printf("RESULT 4-threads-on-4-devices %.3f\n", several(4, 4));
    printf("RESULT one-thread-in-the-region %.3f\n", forking(1));
    printf("RESULT two-threads-in-the-region %.3f\n", forking(2));
    printf("RESULT teams %.3f\n", teams());
    return 0;
}
