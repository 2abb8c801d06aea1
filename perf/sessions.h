/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sessions.h: operations on device 0 that sessions.c and sessions_far.c measure, and with what.
 */
#ifndef OMPRMA_PERF_SESSIONS_H
#define OMPRMA_PERF_SESSIONS_H

#include <omp.h>
#include <stdlib.h>
#include <time.h>

struct place {
    char *host, *device, *other; /* of the same number of bytes; `other`: on device 1 */
    int bare;                    /* a socket to the other host */
};

/* `bytes` is 0 where there is no data. */
typedef void operation(const struct place *place, size_t bytes);

static void launch(const struct place *place, size_t bytes)
{
    (void)place, (void)bytes;
#pragma omp target
    {
    }
}

static void region(const struct place *place, size_t bytes)
{
    double x = 1;

    (void)place, (void)bytes;
#pragma omp target map(tofrom : x)
    x += 1;
    if (x != 2)
        exit(3);
}

static void submit(const struct place *place, size_t bytes)
{
    omp_target_memcpy(place->device, place->host, bytes, 0, 0, 0, omp_get_initial_device());
}

static void retrieve(const struct place *place, size_t bytes)
{
    omp_target_memcpy(place->host, place->device, bytes, 0, 0, omp_get_initial_device(), 0);
}

static double clock_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* For qsort(). */
static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

#endif
