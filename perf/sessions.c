/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sessions.c: what perf/sessions starts.
 *
 * start: microseconds from BEGIN, a time in the environment, to the end of a region on each device.
 * ops: median microseconds of single operations on device 0, for each "RESULT NAME MICROSECONDS".
 * busy: how many equal regions it gets done from BEGIN on, for as many milliseconds as it is told.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { TURNS_MOST = 400, SMALL_AT_ONCE = 16 };

static double now_us(void)
{
    struct timeval time;

    gettimeofday(&time, NULL);
    return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

static double begin_us(void)
{
    const char *begin = getenv("BEGIN");

    return begin ? atof(begin) : now_us();
}

static void start(void)
{
    int devices = omp_get_num_devices(), x = 0;

#pragma omp target map(tofrom : x)
    x++;
    for (int device = 1; device < devices; device++) {
#pragma omp target map(tofrom : x) device(device)
        x++;
    }
    printf("START %.0f\n", now_us() - begin_us());
}

#ifdef HOST_ALONE /* no libomptarget */
static void operations(void)
{
    exit(2);
}
#else

#include "sessions.h"

static void exchange(const struct place *place, size_t bytes)
{
    omp_target_memcpy(place->other, place->device, bytes, 0, 0, 1, 0);
}

static void measure(const char *name, operation *what, size_t bytes)
{
    int turns = bytes > 1 << 20 ? TURNS_MOST / 10 : TURNS_MOST;
    int at_once = bytes > 1 << 10 ? 1 : SMALL_AT_ONCE;
    double us[TURNS_MOST];
    struct place place = {.host = malloc(bytes + 1),
                          .device = omp_target_alloc(bytes + 1, 0),
                          .other = omp_target_alloc(bytes + 1, 1)};

    if (!place.host || !place.device || !place.other)
        exit(3);
    memset(place.host, 1, bytes);
    for (int turn = -turns / 10; turn < turns; turn++) { /* the first ones are not counted */
        double begin = clock_us();

        for (int i = 0; i < at_once; i++)
            what(&place, bytes);
        if (turn >= 0)
            us[turn] = (clock_us() - begin) / at_once;
    }
    qsort(us, (size_t)turns, sizeof(us[0]), by_value);
    if (bytes == 0)
        printf("RESULT %s %.3f\n", name, us[turns / 2]);
    else
        printf("RESULT %s-%zu %.3f\n", name, bytes, us[turns / 2]);
    omp_target_free(place.other, 1);
    omp_target_free(place.device, 0);
    free(place.host);
}

static void operations(void)
{
    static const size_t sizes[] = {8, 32 << 10, 2 << 20, 32 << 20};

    measure("launch", launch, 0);
    measure("region", region, 0);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        measure("submit", submit, sizes[i]);
        measure("retrieve", retrieve, sizes[i]);
        measure("exchange", exchange, sizes[i]);
    }
}

#endif

static void busy(double milliseconds)
{
    double end = begin_us() + milliseconds * 1e3;
    long done = 0;
    volatile double sum = 0;

    for (; now_us() < end; done++) {
        double part = 0;
#pragma omp target teams distribute parallel for reduction(+ : part) map(tofrom : part)
        for (int i = 1; i < 200000; i++)
            part += 1.0 / i;
        sum += part;
    }
    printf("DONE %ld\n", done);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";

    if (strcmp(what, "start") == 0)
        start();
    else if (strcmp(what, "ops") == 0)
        operations();
    else if (strcmp(what, "busy") == 0 && count > 2)
        busy(atof(words[2]));
    else
        return 2;
    return 0;
}
