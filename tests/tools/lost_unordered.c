/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lost_unordered.c: what lost_placed.sh runs: regions without an order, each of which adds to an
 * element of its own in a range that all of them write, and to a block of its own. The worker of
 * one is ended some time after it, when others go on with what it wrote. Arguments: which one, and
 * so many microseconds. Ends with status 5, and a line, if each was done once. */
#include <pthread.h>
#include <stdlib.h>

#include "die.h"

enum { BLOCKS = 12, N = 20000, ROUNDS = 40 };

static double blocks[BLOCKS][N];
static long totals[BLOCKS];

#pragma omp begin declare target
static void *killer(void *after)
{
    usleep((useconds_t)(long)after);
    die(0);
    return NULL;
}

static void die_after(long us)
{
    pthread_t thread;
    pthread_create(&thread, NULL, killer, (void *)us);
}
#pragma omp end declare target

static void add(int b, long us)
{
    double *x = blocks[b];
    long *t = totals;
#pragma omp target nowait depend(inout : x[0]) firstprivate(b, us)
    {
        for (int i = 0; i < N; i++)
            x[i] += i;
        t[b]++;
        if (us >= 0)
            die_after(us);
    }
}

static int is_wrong(int b)
{
    int wrong = totals[b] != ROUNDS;
    for (int i = 0; i < N; i++)
        wrong |= blocks[b][i] != (double)ROUNDS * i;
    return wrong;
}

int main(int count, char **words)
{
    int victim = count > 2 ? atoi(words[1]) : -1, wrong = 0;
    long us = count > 2 ? atol(words[2]) : 0;
#pragma omp target enter data map(to : totals)
    for (int b = 0; b < BLOCKS; b++) {
        double *x = blocks[b];
#pragma omp target enter data map(to : x[:N])
    }
    for (int k = 0; k < ROUNDS * BLOCKS; k++)
        add(k % BLOCKS, k == victim ? us : -1);
#pragma omp taskwait
#pragma omp target exit data map(from : totals)
    for (int b = 0; b < BLOCKS; b++) {
        double *x = blocks[b];
#pragma omp target exit data map(from : x[:N])
        wrong += is_wrong(b);
    }
    printf("lost_unordered: %d wrong\n", wrong);
    return wrong ? 1 : 5;
}
