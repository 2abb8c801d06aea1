/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * function.c: what programs ask of functions and set for them: attributes, parameters, occupancy.
 * What came with the function when it was looked up (module.h) is answered here; what can change is
 * asked of the worker each time.
 */
#include <stdlib.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/module.h"
#include "cuda/result.h"

static CUresult function_begin(struct call *call, CUfunction function)
{
    CUresult result = api_begin(call);
    return result == CUDA_SUCCESS ? function_check(function) : result;
}

/* ---- attributes ----------------------------------------------------------------------------- */

static bool can_be_set(int attribute)
{
    return attribute == CU_FUNCTION_MAX_DYNAMIC_SHARED || attribute == CU_FUNCTION_SHARED_CARVEOUT;
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function)
{
    struct call call;
    CUresult result = function_begin(&call, function);

    if (result == CUDA_SUCCESS &&
        (!value || attribute < 0 || attribute >= CUDA_FUNCTION_ATTRIBUTES))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        int known = function->remote->attributes[attribute];
        if (known == CUDA_UNKNOWN)
            result = CUDA_ERROR_INVALID_VALUE;
        else if (can_be_set(attribute))
            result = result_of(function_gpu(function),
                               remote_attribute_get(function_gpu(function)->device,
                                                    function->remote->function, attribute, value));
        else
            *value = known;
    }
    return api_end(&call, result);
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value)
{
    struct call call;
    CUresult result = function_begin(&call, function);

    if (result == CUDA_SUCCESS)
        result = result_of(function_gpu(function),
                           remote_attribute_set(function_gpu(function)->device,
                                                function->remote->function, attribute, value));
    return api_end(&call, result);
}

/* Preferences, which the driver may disregard. */
CUresult cuFuncSetCacheConfig(CUfunction function, int config)
{
    struct call call;
    CUresult result = function_begin(&call, function);

    (void)config;
    return api_end(&call, result);
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, int config)
{
    return cuFuncSetCacheConfig(function, config);
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    struct call call;
    CUresult result = function_begin(&call, function);

    if (result == CUDA_SUCCESS && !module)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *module = function->module;
    return api_end(&call, result);
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    struct call call;
    CUresult result = function_begin(&call, function);

    if (result == CUDA_SUCCESS && !name)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *name = function->name;
    return api_end(&call, result);
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    struct call call;
    CUresult result = function_begin(&call, function);

    if (result == CUDA_SUCCESS && !offset)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && function->remote->parameter_count == CUDA_PARAMETERS_UNKNOWN)
        result = CUDA_ERROR_NOT_SUPPORTED;
    if (result == CUDA_SUCCESS && index >= (size_t)function->remote->parameter_count)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        *offset = function->remote->parameters[index].offset;
        if (bytes)
            *bytes = function->remote->parameters[index].bytes;
    }
    return api_end(&call, result);
}

/* ---- occupancy ------------------------------------------------------------------------------ */

static CUresult occupancy(const struct function *function,
                          const struct cuda_occupancy_question *question,
                          struct cuda_occupancy *answer)
{
    struct gpu *gpu = function_gpu(function);
    return result_of(gpu, remote_occupancy(gpu->device, question, answer));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared_bytes)
{
    struct call call;
    struct cuda_occupancy answer;
    CUresult result = function_begin(&call, function);

    if (result == CUDA_SUCCESS && (!blocks || threads <= 0))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = occupancy(function,
                           &(struct cuda_occupancy_question){.function = function->remote->function,
                                                             .block_threads = threads,
                                                             .shared_bytes = shared_bytes},
                           &answer);
    if (result == CUDA_SUCCESS)
        *blocks = answer.blocks;
    return api_end(&call, result);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                              int threads, size_t shared_bytes,
                                                              unsigned flags)
{
    (void)flags; /* about caches */
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

/* The program's function says how much shared memory so many threads need; only it can, so each
 * size is asked about, from the largest down, as the driver does. */
static CUresult occupancy_by_size(const struct function *function, CUoccupancyB2DSize shared,
                                  int limit, struct cuda_occupancy *best)
{
    const struct gpu *gpu = function_gpu(function);
    int warp = gpu_attribute(gpu, CU_ATTRIBUTE_WARP_SIZE);
    int most = function->remote->attributes[CU_FUNCTION_MAX_THREADS_PER_BLOCK];
    int64_t busiest = 0;

    if (limit > 0 && limit < most)
        most = limit;
    warp = warp > 0 ? warp : 32;
    *best = (struct cuda_occupancy){0};
    for (int threads = (most + warp - 1) / warp * warp; threads > 0; threads -= warp) {
        int tried = threads < most ? threads : most;
        struct cuda_occupancy answer;
        CUresult result =
            occupancy(function,
                      &(struct cuda_occupancy_question){.function = function->remote->function,
                                                        .block_threads = tried,
                                                        .shared_bytes = shared(tried)},
                      &answer);
        if (result != CUDA_SUCCESS)
            return result;
        if ((int64_t)answer.blocks * tried > busiest) {
            busiest = (int64_t)answer.blocks * tried;
            best->block_threads = tried;
            best->blocks = answer.blocks * gpu_attribute(gpu, CU_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        }
    }
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *blocks, int *threads, CUfunction function,
                                          CUoccupancyB2DSize shared, size_t shared_bytes, int limit)
{
    struct call call;
    struct cuda_occupancy answer = {0};
    CUresult result = function_begin(&call, function);

    if (result == CUDA_SUCCESS && (!blocks || !threads || limit < 0))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && shared)
        result = occupancy_by_size(function, shared, limit, &answer);
    else if (result == CUDA_SUCCESS)
        result = occupancy(function,
                           &(struct cuda_occupancy_question){.function = function->remote->function,
                                                             .block_limit = limit,
                                                             .shared_bytes = shared_bytes},
                           &answer);
    if (result == CUDA_SUCCESS) {
        *blocks = answer.blocks;
        *threads = answer.block_threads;
    }
    return api_end(&call, result);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *blocks, int *threads, CUfunction function,
                                                   CUoccupancyB2DSize shared, size_t shared_bytes,
                                                   int limit, unsigned flags)
{
    (void)flags;
    return cuOccupancyMaxPotentialBlockSize(blocks, threads, function, shared, shared_bytes, limit);
}
