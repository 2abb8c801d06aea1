/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gpu_cuda.c: NVIDIA GPUs, by the CUDA driver interface. What a call does is said in gpu.h. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/exports.h"

enum { KERNELS_MOST = 16, TEXT_MOST = 1 << 20 };

struct gpu_kernel {
    CUfunction function;
};

static struct {
    CUcontext context[2];
    CUstream stream;
    CUmodule module;
    struct gpu_kernel kernels[KERNELS_MOST];
    int count;
    char name[256];
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

/* The driver takes text up to a zero. */
static char *read_text(const char *kernels)
{
    char path[4096], *text = calloc(1, TEXT_MOST);
    FILE *file;

    snprintf(path, sizeof(path), "%s.ptx", kernels);
    file = fopen(path, "r");
    if (!text || !file || fread(text, 1, TEXT_MOST - 1, file) == 0) {
        fprintf(stderr, "gpu: cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

int gpu_begin(const char *kernels)
{
    CUresult result = cuInit(0);
    int gpus = 0;
    char *text = read_text(kernels);

    if (result == CUDA_SUCCESS)
        result = cuDeviceGetCount(&gpus);
    if (result == CUDA_ERROR_NO_DEVICE || (result == CUDA_SUCCESS && gpus == 0)) {
        fputs("gpu: there is no NVIDIA GPU here\n", stderr);
        exit(GPU_NONE);
    }
    OK(result);
    gpus = gpus > 1 ? 2 : 1;
    for (int i = gpus - 1; i >= 0; i--) {
        OK(cuDevicePrimaryCtxRetain(&at.context[i], i));
        OK(cuCtxSetCurrent(at.context[i]));
    }
    OK(cuDeviceGetName(at.name, sizeof(at.name), 0));
    OK(cuStreamCreate(&at.stream, CU_STREAM_NON_BLOCKING));
    OK(cuModuleLoadDataEx(&at.module, text, 0, NULL, NULL));
    free(text);
    return gpus;
}

const char *gpu_name(void)
{
    return at.name;
}

uint64_t gpu_allocate(int gpu, size_t bytes)
{
    CUdeviceptr memory;

    OK(cuCtxSetCurrent(at.context[gpu]));
    OK(cuMemAlloc_v2(&memory, bytes));
    OK(cuCtxSetCurrent(at.context[0]));
    return memory;
}

void *gpu_host(size_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);

    if (!memory)
        exit(1);
    memset(memory, 0, bytes);
    OK(cuMemHostRegister_v2(memory, bytes, 0));
    return memory;
}

const struct gpu_kernel *gpu_kernel(const char *name)
{
    struct gpu_kernel *kernel = &at.kernels[at.count++];

    if (at.count > KERNELS_MOST)
        abort();
    OK(cuModuleGetFunction(&kernel->function, at.module, name));
    return kernel;
}

void gpu_launch(const struct gpu_kernel *kernel, unsigned groups, const uint64_t *words,
                unsigned count, enum gpu_behind behind)
{
    uint64_t parameters[GPU_WORDS];
    size_t bytes = count * sizeof(*words);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, parameters, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};

    (void)behind;
    memcpy(parameters, words, bytes);
    OK(cuLaunchKernel(kernel->function, groups, 1, 1, GPU_GROUP, 1, 1, 0, at.stream, NULL, extra));
}

void gpu_submit(uint64_t to, const void *from, size_t bytes)
{
    OK(cuMemcpyHtoDAsync_v2(to, from, bytes, at.stream));
}

void gpu_retrieve(void *to, uint64_t from, size_t bytes)
{
    OK(cuMemcpyDtoHAsync_v2(to, from, bytes, at.stream));
}

void gpu_exchange(uint64_t to, uint64_t from, size_t bytes)
{
    OK(cuMemcpyPeerAsync(to, at.context[1], from, at.context[0], bytes, at.stream));
}

void gpu_wait(void)
{
    OK(cuStreamSynchronize(at.stream));
}
