/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu.c: times of a GPU by the interface of its kind (tests/hardware/gpu.h), whichever library it
 * finds: the real one, a stand-in for it, or omprma's. See perf/gpu.
 *
 * gpu KERNELS REPS MIB prints a line per operation: RESULT OPERATION BYTES US, the median of REPS
 * times; copies have up to MIB. launch-cpu is the processor time of the calling thread for one of
 * CPU_LAUNCHES launches that are waited for once, without the wait; launch-cpu-signal the same of
 * launches behind each of which something may follow, as OpenMP's runtimes make them.
 * row and row-same are for one of ROW submits that are waited for once, to places side by side and
 * to one place. gpu KERNELS REPS MIB chain does the same for CHAIN launches that are waited for
 * once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/hardware/gpu.h"

enum {
    LEAST = 1 << 10,
    MIB_MOST = 1024,
    STEP = 8,
    REPS_MOST = 100000,
    COPIES = 10,
    CHAIN = 100,
    ROW = 32,
    CPU_LAUNCHES = 50 /* few enough that none waits for room */
};

static struct {
    uint64_t memory, other; /* on GPU 0 and on GPU 1 */
    unsigned char *host;
    const struct gpu_kernel *add;
    double own_us; /* of what only the calling thread is measured */
} at;

static double now_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* ---- operations: the wait is not theirs ---- */

static void launch(size_t value, enum gpu_behind behind)
{
    const uint64_t words[] = {at.memory, 8, value};
    gpu_launch(at.add, 1, words, 3, behind);
}

static void run_launch(size_t bytes)
{
    (void)bytes;
    launch(0, GPU_LAST);
}

static void run_chain(size_t bytes)
{
    (void)bytes;
    for (int i = 1; i < CHAIN; i++)
        launch(0, GPU_MORE);
    launch(0, GPU_LAST);
}

static void launches(enum gpu_behind behind)
{
    double begin = now_us(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 1; i < CPU_LAUNCHES; i++)
        launch(0, behind);
    launch(0, GPU_LAST);
    at.own_us = (now_us(CLOCK_THREAD_CPUTIME_ID) - begin) / CPU_LAUNCHES;
}

static void run_launch_cpu(size_t bytes)
{
    (void)bytes;
    launches(GPU_MORE);
}

static void run_signal_cpu(size_t bytes)
{
    (void)bytes;
    launches(GPU_LAST);
}

static void run_submit(size_t bytes)
{
    gpu_submit(at.memory, at.host, bytes);
}

static void run_retrieve(size_t bytes)
{
    gpu_retrieve(at.host, at.memory, bytes);
}

static void run_region(size_t bytes)
{
    run_submit(bytes);
    launch(1, GPU_LAST);
    run_retrieve(bytes);
}

/* The little that comes back comes behind all of them. */
static void submits(size_t bytes, size_t step)
{
    for (size_t i = 0; i < ROW; i++)
        gpu_submit(at.memory + i * step, at.host, bytes);
    gpu_retrieve(at.host, at.memory, 8);
}

static void run_row(size_t bytes)
{
    submits(bytes, bytes);
}

static void run_row_same(size_t bytes)
{
    submits(bytes, 0);
}

static void run_exchange(size_t bytes)
{
    gpu_exchange(at.other, at.memory, bytes);
}

/* ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, void (*run)(size_t bytes), size_t bytes, int reps)
{
    double *times = malloc((size_t)reps * sizeof(*times));

    if (!times)
        exit(1);
    for (int i = -reps / 10 - 1; i < reps; i++) { /* the first ones do not count */
        double begin = now_us(CLOCK_MONOTONIC);
        at.own_us = 0;
        run(bytes);
        gpu_wait();
        if (i >= 0)
            times[i] = at.own_us > 0 ? at.own_us : now_us(CLOCK_MONOTONIC) - begin;
    }
    qsort(times, (size_t)reps, sizeof(*times), compare);
    printf("RESULT %s %zu %.3f\n", name, bytes,
           times[reps / 2] / (strncmp(name, "row", 3) == 0 ? ROW : 1));
    fflush(stdout);
    free(times);
}

/* Each region adds 1 to bytes that go there and back. */
static void measure_regions(int reps)
{
    unsigned char wanted = (unsigned char)(reps + reps / 10 + 1);

    memset(at.host, 0, 8);
    measure("region", run_region, 8, reps);
    for (int i = 0; i < 8; i++)
        if (at.host[i] != wanted) {
            fprintf(stderr, "gpu: regions gave %d, not %d\n", at.host[i], wanted);
            exit(1);
        }
}

int main(int count, char **words)
{
    int reps = count > 3 ? atoi(words[2]) : 0, mib = count > 3 ? atoi(words[3]) : 0, gpus;
    size_t most = (size_t)mib << 20;

    if (reps < 1 || reps > REPS_MOST || mib < 1 || mib > MIB_MOST) {
        fprintf(stderr, "usage: gpu KERNELS REPS MIB [chain], REPS to %d, MIB to %d\n", REPS_MOST,
                MIB_MOST);
        return 2;
    }
    gpus = gpu_begin(words[1]);
    at.memory = gpu_allocate(0, most);
    at.host = gpu_host(most);
    at.add = gpu_kernel("add");
    gpu_submit(at.memory, at.host, most); /* all is touched; the stand-ins move what comes first */
    gpu_wait();
    if (count > 4 && strcmp(words[4], "chain") == 0) {
        measure("chain", run_chain, 8, reps);
        return 0;
    }
    measure("launch", run_launch, 8, reps);
    measure_regions(reps);
    measure("launch-cpu", run_launch_cpu, 8, reps);
    measure("launch-cpu-signal", run_signal_cpu, 8, reps);
    if (gpus > 1)
        at.other = gpu_allocate(1, most);
    for (size_t bytes = LEAST; bytes <= most; bytes *= STEP) {
        int copies = bytes < 1 << 20 ? reps : reps < COPIES ? reps : COPIES;
        measure("submit", run_submit, bytes, copies);
        measure("retrieve", run_retrieve, bytes, copies);
        if (gpus > 1)
            measure("exchange", run_exchange, bytes, copies);
    }
    for (size_t bytes = 4 << 10; bytes <= 1 << 20 && ROW * bytes <= most; bytes *= 4) {
        measure("row", run_row, bytes, reps / ROW + 1);
        measure("row-same", run_row_same, bytes, reps / ROW + 1);
    }
    return 0;
}
