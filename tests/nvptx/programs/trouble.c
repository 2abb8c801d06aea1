/*
 * trouble.c: a program for the CUDA driver interface that meets with trouble.
 * - trouble parameters: launches a kernel whose parameters nobody describes
 * - trouble copies: copies until that fails, and says with what
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/exports.h"

enum { BYTES = 32 << 20 };

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry standin_add(.param .u64 at, .param .u64 bytes, "
                          ".param .u64 value)\n{ ret; }\n";

static CUdeviceptr memory;

static int fail(const char *what, CUresult result)
{
    const char *name = "";

    cuGetErrorName(result, &name);
    printf("%s: %s\n", what, name);
    return 1;
}

static int parameters(void)
{
    uint64_t values[] = {memory, 8, 1};
    size_t bytes = sizeof(values);
    void *pointers[] = {&values[0], &values[1], &values[2]};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, values, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    CUmodule module;
    CUfunction kernel;
    unsigned char byte = 0;
    CUresult result = cuModuleLoadData(&module, ptx);

    if (result == CUDA_SUCCESS)
        result = cuModuleGetFunction(&kernel, module, "standin_add");
    if (result != CUDA_SUCCESS)
        return fail("module", result);
    result = cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, pointers, NULL);
    if (result != CUDA_ERROR_NOT_SUPPORTED)
        return fail("by pointers", result);
    cuMemsetD8_v2(memory, 41, 8);
    result = cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
    if (result == CUDA_SUCCESS)
        result = cuMemcpyDtoH_v2(&byte, memory, 1);
    if (result != CUDA_SUCCESS || byte != 42)
        return fail("as one block", result);
    puts("right");
    return 0;
}

static int copies(void)
{
    void *host = calloc(1, BYTES);
    CUresult result = host ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

    puts("copying");
    fflush(stdout);
    while (result == CUDA_SUCCESS) {
        result = cuMemcpyHtoD_v2(memory, host, BYTES);
        if (result == CUDA_SUCCESS)
            result = cuMemcpyDtoH_v2(host, memory, BYTES);
    }
    return fail("copies", result);
}

int main(int count, char **words)
{
    CUcontext context;
    CUresult result = cuInit(0);

    if (result == CUDA_SUCCESS)
        result = cuCtxCreate_v2(&context, 0, 0);
    if (result == CUDA_SUCCESS)
        result = cuMemAlloc_v2(&memory, BYTES);
    if (result != CUDA_SUCCESS)
        return fail("start", result);
    return count > 1 && strcmp(words[1], "copies") == 0 ? copies() : parameters();
}
