/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_program.c: a program of the CUDA driver interface with the library for programs
 * (src/cuda), down to the worker and the stand-in for the driver in one process, without MPI: so
 * the sanitizers see all of it. The library begins once per process, so this is one program.
 * Covers: context.c cuda/copy.c src/cuda/driver.c cuda/event.c fill.c cuda/gpu.c cuda/launch.c
 * cuda/link.c cuda/memory.c src/cuda/module.c remote.c cuda/result.c cuda/stream.c cuda/thread.c
 * driver/devices.c guard.c say.c
 */
#include "tests/unit/test.h"
#include "cuda/exports.h"
#include "host/start/starting.h"
#include "tests/unit/worker/cuda/cuda_fixture.h"

enum { WORDS = 100000, STEPS = 20 };

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

static unsigned char out[WORDS], back[WORDS];

static CUfunction find(const char *name)
{
    static CUmodule module;
    CUfunction function;

    if (!module)
        OK(cuModuleLoadData(&module, kernels));
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static void add(CUfunction kernel, CUdeviceptr at, uint64_t bytes, uint64_t value, CUstream stream)
{
    void *parameters[] = {&at, &bytes, &value};

    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

/* Copies of all sizes, launches and fills in streams, events between them. */
static void work(void)
{
    CUfunction kernel = find("standin_add");
    CUdeviceptr block, other;
    CUstream stream, next;
    CUevent event;
    float ms;

    OK(cuMemAlloc_v2(&block, WORDS));
    OK(cuMemAlloc_v2(&other, WORDS));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&next, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, 0));
    for (int i = 0; i < STEPS; i++) {
        size_t bytes = i % 2 ? WORDS : (size_t)i + 1;

        memset(out, 3 * i, sizeof(out));
        memset(back, 0, sizeof(back));
        OK(cuMemsetD8Async(block, 1, WORDS, stream));
        OK(cuMemcpyHtoDAsync_v2(block, out, bytes, stream));
        add(kernel, block, WORDS, 2, stream);
        OK(cuMemcpyDtoDAsync_v2(other, block, WORDS, stream));
        OK(cuEventRecord(event, stream));
        OK(cuStreamWaitEvent(next, event, 0));
        OK(cuMemcpyDtoHAsync_v2(back, other, WORDS, next));
        OK(cuStreamSynchronize(next));
        assert_all(back, bytes, (unsigned char)(3 * i + 2));
        assert_all(back + bytes, WORDS - bytes, 3);
    }
    assert_int_equal(cuEventElapsedTime(&ms, event, event), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyHtoD_v2(1, out, 2), CUDA_ERROR_INVALID_VALUE);
    OK(cuEventDestroy_v2(event));
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(next));
    OK(cuMemFree_v2(block));
    OK(cuMemFree_v2(other));
}

TEST(a_program_runs)
{
    CUcontext context;
    int count = 0;

    start_all();
    starting_set(true); /* as a library that MPI opens */
    assert_int_equal(cuInit(0), CUDA_ERROR_NO_DEVICE);
    starting_set(false);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    assert_int_equal(count, 2);
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    work();
}

/* The other GPU goes on. */
TEST(a_fault_is_told)
{
    uint32_t code = ILLEGAL_ADDRESS;
    void *parameters[] = {&code};
    CUcontext context;
    CUdeviceptr block;

    OK(cuLaunchKernel(find("standin_fault"), 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuMemcpyHtoD_v2(1, out, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuDevicePrimaryCtxRetain(&context, 1));
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc_v2(&block, WORDS));
    OK(cuMemcpyHtoD_v2(block, out, WORDS));
    OK(cuMemcpyDtoH_v2(back, block, WORDS));
    assert_memory_equal(out, back, WORDS);
    OK(cuMemFree_v2(block));
}

/* The library ends omprma with the process. */