/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cliffs_overlap.c: whether what is made with nowait goes on beside what the program computes, and
 * beside each other: two things of equal length take as long as one of them, where there is a
 * processor for each. Checks its results. See perf/cliffs.
 *
 *   cliffs_overlap [TURNS]    prints lines "OVERLAP ROW RATIO LIMIT": the median time of a turn,
 * over that of full overlap
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 64 << 20, TURNS_MOST = 200, CHAIN = 20 };

static const double kernel_s = 0.0005;

static unsigned char *one, *two;
static int steps;

#pragma omp declare target
static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void compute(double seconds)
{
    double end = now_s() + seconds;
    while (now_s() < end)
        ;
}
#pragma omp end declare target

static int compare(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* ---- what is alone: nowait as well, for that takes one processor, as it does beside others ----
 */

static void update_to(double length)
{
    (void)length;
#pragma omp target update to(one [0:BYTES]) nowait
#pragma omp taskwait
}

static void update_from(double length)
{
    (void)length;
#pragma omp target update from(one [0:BYTES]) nowait
#pragma omp taskwait
}

/* ---- the rows: each takes `length` seconds in full overlap ----------------------------------- */

static void to_beside_host(double length)
{
#pragma omp target update to(one [0:BYTES]) nowait
    compute(length);
#pragma omp taskwait
}

static void from_beside_host(double length)
{
#pragma omp target update from(one [0:BYTES]) nowait
    compute(length);
#pragma omp taskwait
}

static void chain_beside_host(double length)
{
    int x = 0;
    for (int i = 0; i < CHAIN; i++) {
#pragma omp target nowait map(tofrom : x) depend(inout : x)
        {
            compute(kernel_s);
            x++;
        }
    }
    compute(length);
#pragma omp taskwait
    steps += x;
}

static void kernel_beside_to(double length)
{
#pragma omp target nowait firstprivate(length)
    compute(length);
#pragma omp target update to(two [0:BYTES]) nowait
#pragma omp taskwait
}

static void kernel_beside_from(double length)
{
#pragma omp target nowait firstprivate(length)
    compute(length);
#pragma omp target update from(two [0:BYTES]) nowait
#pragma omp taskwait
}

/* The first turn does not count. */
static double median_of(void (*run)(double length), double length, int turns)
{
    double took[TURNS_MOST];
    for (int turn = -1; turn < turns; turn++) {
        double begin = now_s();
        run(length);
        if (turn >= 0)
            took[turn] = now_s() - begin;
    }
    qsort(took, (size_t)turns, sizeof(took[0]), compare);
    return took[turns / 2];
}

static void print(const char *row, double limit, void (*run)(double length), double length,
                  int turns)
{
    printf("OVERLAP %s %.3f %.1f\n", row, median_of(run, length, turns) / length, limit);
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 11;
    if (turns < 1 || turns > TURNS_MOST) {
        fprintf(stderr, "cliffs_overlap: needs a number of turns, 1 to %d\n", TURNS_MOST);
        return 2;
    }
    one = malloc(BYTES);
    two = malloc(BYTES);
    if (!one || !two)
        return 1;
    memset(one, 1, BYTES);
    memset(two, 2, BYTES);
#pragma omp target enter data map(to : one [0:BYTES], two [0:BYTES])
    double to = median_of(update_to, 0, turns), from = median_of(update_from, 0, turns);
    print("update-to-beside-host", 1.1, to_beside_host, to, turns);
    print("update-from-beside-host", 1.1, from_beside_host, from, turns);
    print("chain-beside-host", 1.1, chain_beside_host, CHAIN * kernel_s, turns);
    print("kernel-beside-update-to", 1.2, kernel_beside_to, to, turns);
    print("kernel-beside-update-from", 1.2, kernel_beside_from, from, turns);
    for (int i = 0; i < BYTES; i++)
        if (one[i] != 1 || two[i] != 2) {
            fprintf(stderr, "cliffs_overlap: wrong values\n");
            return 1;
        }
    if (steps != (turns + 1) * CHAIN) {
        fprintf(stderr, "cliffs_overlap: %d kernels of %d\n", steps, (turns + 1) * CHAIN);
        return 1;
    }
    return 0;
}
