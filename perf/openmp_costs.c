/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * openmp_costs.c: what OpenMP target regions cost beside each other: with no map, with one and with
 * 40; mapping an array where 100 and where 10,000 are mapped; one thread on one device and two on
 * two. Also the time from the start of the process to the end of its first region, and its memory
 * then. Checks its results. See perf/openmp-costs.
 *
 *   START=$EPOCHREALTIME openmp_costs [SCALE]     prints lines "RESULT CASE VALUE"
 */
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REGIONS = 500, TURNS = 8, MANY = 10000, FEW = 100, LENGTH = 8 };

static double now_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double monotonic_us(void)
{
    return now_us(CLOCK_MONOTONIC);
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), by_value);
    return values[count / 2];
}

static void fail(const char *what)
{
    fprintf(stderr, "openmp_costs: %s: wrong result\n", what);
    exit(1);
}

static long resident_kib(void)
{
    char text[4096];
    int file = open("/proc/self/status", O_RDONLY);
    ssize_t bytes = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
    if (file >= 0)
        close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    const char *line = strstr(text, "VmRSS:");
    return line ? strtol(line + strlen("VmRSS:"), NULL, 10) : 0;
}

static void first_region(void)
{
    const char *start = getenv("START");
    long x = 1;
#pragma omp target map(tofrom : x)
    x++;
    if (x != 2)
        fail("first region");
    if (start)
        printf("RESULT first-us %.0f\n", now_us(CLOCK_REALTIME) - atof(start) * 1e6);
    printf("RESULT resident-kib %ld\n", resident_kib());
}

/* ---- regions -------------------------------------------------------------------------------- */

static void region_none(void)
{
#pragma omp target
    ;
}

static void region_one(void)
{
    static long x;
    long before = x;
#pragma omp target map(tofrom : x)
    x++;
    if (x != before + 1)
        fail("one map");
}

/* clang-format off */
#define TEN(v) v##0, v##1, v##2, v##3, v##4, v##5, v##6, v##7, v##8, v##9
#define ADD(v) (v##0++, v##1++, v##2++, v##3++, v##4++, v##5++, v##6++, v##7++, v##8++, v##9++)
#define SUM(v) (v##0 + v##1 + v##2 + v##3 + v##4 + v##5 + v##6 + v##7 + v##8 + v##9)
/* clang-format on */

static void region_forty(void)
{
    static long TEN(a), TEN(b), TEN(c), TEN(d);
    long before = SUM(a) + SUM(b) + SUM(c) + SUM(d);
#pragma omp target map(tofrom : TEN(a), TEN(b), TEN(c), TEN(d))
    {
        ADD(a), ADD(b), ADD(c), ADD(d);
    }
    if (SUM(a) + SUM(b) + SUM(c) + SUM(d) != before + 40)
        fail("40 maps");
}

static void measure_regions(int scale)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {{"none", region_none}, {"one", region_one}, {"forty", region_forty}};
    enum { KINDS = 3 };
    int count = REGIONS * scale;
    double *us[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        us[kind] = calloc((size_t)count * TURNS, sizeof(double));
    for (int turn = 0; turn < TURNS; turn++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = -20; i < count; i++) {
                double begin = monotonic_us();
                kinds[kind].run();
                if (i >= 0)
                    us[kind][turn * count + i] = monotonic_us() - begin;
            }
    for (int kind = 0; kind < KINDS; kind++) {
        printf("RESULT %s-us %.4f\n", kinds[kind].name, median(us[kind], count * TURNS));
        free(us[kind]);
    }
}

/* ---- mapped arrays -------------------------------------------------------------------------- */

/* Even ones stay mapped, FEW odd ones come and go among them. */
static long arrays[2 * MANY][LENGTH];

static void enter_array(int i)
{
    long *array = arrays[i];
#pragma omp target enter data map(to : array [0:LENGTH])
}

static void leave_array(int i)
{
    long *array = arrays[i], before = array[0];
#pragma omp target exit data map(from : array [0:LENGTH])
    if (array[0] != before)
        fail("mapped arrays");
}

/* Microseconds to map and unmap one where the even ones among `count` are mapped. */
static double map_us(int count)
{
    double begin = monotonic_us();
    for (int i = 0; i < FEW; i++)
        enter_array(i * (count / FEW) * 2 + 1);
    for (int i = 0; i < FEW; i++)
        leave_array(i * (count / FEW) * 2 + 1);
    return (monotonic_us() - begin) / FEW;
}

static void measure_maps(int scale)
{
    enum { MOST = 1000 };
    static const int counts[] = {FEW, MANY};
    static double us[2][MOST];
    int turns = 50 * scale < MOST ? 50 * scale : MOST;
    for (int mapped = 0, kind = 0; kind < 2; kind++) {
        for (; mapped < counts[kind]; mapped++)
            enter_array(2 * mapped);
        for (int turn = -2; turn < turns; turn++) {
            double each = map_us(counts[kind]);
            if (turn >= 0)
                us[kind][turn] = each;
        }
        printf("RESULT map-%d-us %.4f\n", counts[kind], median(us[kind], turns));
    }
}

/* ---- threads -------------------------------------------------------------------------------- */

/* Regions per millisecond of `threads` threads, each on a device of its own. Kernels sleep for
 * `ns`: on a machine with as many processors as threads they would take them away. */
static double rate(int threads, int count, long ns)
{
    double begin = 0;
#pragma omp parallel num_threads(threads)
    {
        int device = omp_get_thread_num();
        long x = 0;
#pragma omp barrier
#pragma omp master
        begin = monotonic_us();
        for (int i = 0; i < count; i++) {
#pragma omp target map(tofrom : x) device(device)
            {
                if (ns > 0)
                    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
                x++;
            }
        }
        if (x != count)
            fail("threads");
    }
    return 1000.0 * threads * count / (monotonic_us() - begin);
}

static void measure_threads(const char *kind, int count, long ns)
{
    enum { TURNS_OF_THREADS = 9 };
    double one[TURNS_OF_THREADS], two[TURNS_OF_THREADS];
    rate(2, 10, ns);
    for (int turn = 0; turn < TURNS_OF_THREADS; turn++) {
        one[turn] = rate(1, count, ns);
        two[turn] = rate(2, count, ns);
    }
    printf("RESULT one-thread-%s %.4f\nRESULT two-threads-%s %.4f\n", kind,
           median(one, TURNS_OF_THREADS), kind, median(two, TURNS_OF_THREADS));
}

int main(int argc, char **argv)
{
    int scale = argc > 1 ? atoi(argv[1]) : 4;
    if (scale < 1 || omp_get_num_devices() < 1) {
        fprintf(stderr, "openmp_costs: needs a scale from 1 on and a device\n");
        return 2;
    }
    first_region();
    measure_regions(scale);
    measure_maps(scale);
    if (omp_get_num_devices() > 1) {
        measure_threads("per-ms", REGIONS * scale, 0);
        measure_threads("sleeping-per-ms", 50 * scale, 500000);
    }
    return 0;
}
