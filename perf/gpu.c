/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu.c: times of a GPU by the CUDA driver interface, whichever libcuda.so.1 it finds: the driver,
 * the stand-in for it, or omprma's. See perf/gpu.
 *
 *   gpu REPS          a line per operation: RESULT OPERATION BYTES US, the median of REPS times
 *   gpu REPS chain    the same of CHAIN launches in one stream that are waited for once
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda/exports.h"

enum { LEAST = 1 << 20, MOST = 64 << 20, STEP = 8, REPS_MOST = 100000, COPIES = 10, CHAIN = 100 };

/* Of the stand-in's kernels one that does next to nothing; the text is right for GPUs, too. */
static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                          ".visible .entry standin_add(.param .u64 at, .param .u64 bytes, "
                          ".param .u64 value)\n{ ret; }\n";

static struct {
    CUcontext context[2];
    CUdeviceptr memory[2];
    CUstream stream;
    CUfunction kernel;
    void *host;
    int gpus;
} at;

#define OK(call) check(#call, call)
static void check(const char *what, CUresult result)
{
    const char *text = "";

    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorString(result, &text);
    fprintf(stderr, "gpu: %s: %s (%d)\n", what, text ? text : "", (int)result);
    exit(1);
}

static void run_launch(size_t bytes)
{
    uint64_t parameters[] = {at.memory[0], bytes, 0};
    size_t size = sizeof(parameters);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};

    OK(cuLaunchKernel(at.kernel, 1, 1, 1, 1, 1, 1, 0, at.stream, NULL, extra));
}

static void run_chain(size_t bytes)
{
    for (int i = 0; i < CHAIN; i++)
        run_launch(bytes);
}

static void run_submit(size_t bytes)
{
    OK(cuMemcpyHtoDAsync_v2(at.memory[0], at.host, bytes, at.stream));
}

static void run_retrieve(size_t bytes)
{
    OK(cuMemcpyDtoHAsync_v2(at.host, at.memory[0], bytes, at.stream));
}

static void run_region(size_t bytes)
{
    run_submit(bytes);
    run_launch(bytes);
    run_retrieve(bytes);
}

static void run_exchange(size_t bytes)
{
    OK(cuMemcpyPeerAsync(at.memory[1], at.context[1], at.memory[0], at.context[0], bytes,
                         at.stream));
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void measure(const char *name, void (*run)(size_t bytes), size_t bytes, int reps)
{
    double *times = malloc((size_t)reps * sizeof(*times));

    if (!times)
        exit(1);
    for (int i = -reps / 10 - 1; i < reps; i++) { /* the first ones do not count */
        double begin = now_us();
        run(bytes);
        OK(cuStreamSynchronize(at.stream));
        if (i >= 0)
            times[i] = now_us() - begin;
    }
    qsort(times, (size_t)reps, sizeof(*times), compare);
    printf("RESULT %s %zu %.3f\n", name, bytes, times[reps / 2]);
    free(times);
}

static void begin(void)
{
    CUmodule module;

    OK(cuInit(0));
    OK(cuDeviceGetCount(&at.gpus));
    for (int i = at.gpus > 1; i >= 0; i--) {
        OK(cuDevicePrimaryCtxRetain(&at.context[i], i));
        OK(cuCtxSetCurrent(at.context[i]));
        OK(cuMemAlloc_v2(&at.memory[i], MOST));
    }
    at.host = aligned_alloc(4096, MOST);
    if (!at.host)
        exit(1);
    memset(at.host, 0, MOST);
    OK(cuMemHostRegister_v2(at.host, MOST, 0));
    OK(cuStreamCreate(&at.stream, CU_STREAM_NON_BLOCKING));
    OK(cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL));
    OK(cuModuleGetFunction(&at.kernel, module, "standin_add"));
}

int main(int count, char **words)
{
    int reps = count > 1 ? atoi(words[1]) : 0;

    if (reps < 1 || reps > REPS_MOST) {
        fprintf(stderr, "usage: gpu REPS [chain], from 1 to %d\n", REPS_MOST);
        return 2;
    }
    begin();
    if (count > 2 && strcmp(words[2], "chain") == 0) {
        measure("chain", run_chain, 8, reps);
        return 0;
    }
    measure("launch", run_launch, 8, reps);
    measure("region", run_region, 8, reps);
    for (size_t bytes = LEAST; bytes <= MOST; bytes *= STEP) {
        int copies = reps < COPIES ? reps : COPIES;
        measure("submit", run_submit, bytes, copies);
        measure("retrieve", run_retrieve, bytes, copies);
        if (at.gpus > 1)
            measure("exchange", run_exchange, bytes, copies);
    }
    return 0;
}
