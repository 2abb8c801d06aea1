/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * launch.c: launches. Parameters come as one block, or as an array of pointers without a count:
 * then the function's own description says where each belongs in the block.
 */
#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/module.h"
#include "cuda/result.h"
#include "cuda/stream.h"

enum { BLOCK_BYTES_USUAL = 512, BLOCK_BYTES_MOST = 32764 };

/* A parameter block; `small` where it fits. */
struct parameters {
    const void *block;
    size_t bytes;
    char *made; /* to be freed */
    _Alignas(16) char small[BLOCK_BYTES_USUAL];
};

/* ---- parameters ----------------------------------------------------------------------------- */

/* Errors: INVALID_VALUE. */
static CUresult parameters_take(struct parameters *parameters, void **extra)
{
    const size_t *bytes = NULL;

    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            parameters->block = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    parameters->bytes = bytes ? *bytes : 0;
    if (parameters->bytes > 0 && !parameters->block)
        return CUDA_ERROR_INVALID_VALUE;
    return parameters->bytes > BLOCK_BYTES_MOST ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult parameters_unknown(const struct function *function)
{
    report_error("cannot launch %s: neither its image nor the worker's driver (%d.%d) says how "
                 "many parameters it has; pass them as one buffer, or use driver 12.4 or newer",
                 function->name, function_gpu(function)->properties.driver_version / 1000,
                 function_gpu(function)->properties.driver_version % 1000 / 10);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Errors: NOT_SUPPORTED, INVALID_VALUE, OUT_OF_MEMORY. */
static CUresult parameters_gather(struct parameters *parameters, const struct function *function,
                                  void **pointers)
{
    const struct cuda_function *remote = function->remote;
    size_t bytes = 0;

    if (remote->parameter_count == CUDA_PARAMETERS_UNKNOWN)
        return parameters_unknown(function);
    if (remote->parameter_count > 0 && !pointers)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < remote->parameter_count; i++) {
        size_t end = (size_t)remote->parameters[i].offset + remote->parameters[i].bytes;
        bytes = end > bytes ? end : bytes;
    }
    if (bytes > BLOCK_BYTES_MOST)
        return CUDA_ERROR_INVALID_VALUE;
    char *block = parameters->small;
    if (bytes > sizeof(parameters->small))
        block = parameters->made = malloc(bytes);
    if (!block)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memset(block, 0, bytes);
    for (int i = 0; i < remote->parameter_count; i++)
        memcpy(block + remote->parameters[i].offset, pointers[i], remote->parameters[i].bytes);
    parameters->block = block;
    parameters->bytes = bytes;
    return CUDA_SUCCESS;
}

/* ---- geometry ------------------------------------------------------------------------------- */

/* What the driver refuses at once. */
static CUresult geometry_check(const struct function *function, const unsigned grid[3],
                               const unsigned block[3], unsigned shared_bytes)
{
    const struct gpu *gpu = function_gpu(function);
    uint64_t threads = 1;

    for (int i = 0; i < 3; i++) {
        int most_grid = gpu_attribute(gpu, CU_ATTRIBUTE_MAX_GRID_DIM_X + i);
        int most_block = gpu_attribute(gpu, CU_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        if (grid[i] == 0 || block[i] == 0 || (most_grid > 0 && grid[i] > (unsigned)most_grid) ||
            (most_block > 0 && block[i] > (unsigned)most_block))
            return CUDA_ERROR_INVALID_VALUE;
        threads *= block[i];
    }
    int most = gpu_attribute(gpu, CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    int own = function->remote->attributes[CU_FUNCTION_MAX_THREADS_PER_BLOCK];
    int shared = gpu_attribute(gpu, CU_ATTRIBUTE_MAX_SHARED_OPTIN);
    if ((most > 0 && threads > (uint64_t)most) || (shared > 0 && shared_bytes > (unsigned)shared))
        return CUDA_ERROR_INVALID_VALUE;
    if (own > 0 && threads > (uint64_t)own)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    return CUDA_SUCCESS;
}

static CUresult launch(struct stream *stream, const struct function *function,
                       const unsigned grid[3], const unsigned block[3], unsigned shared_bytes,
                       void **pointers, void **extra)
{
    struct gpu *gpu = stream->context->gpu;
    omprma_geometry_t geometry = {.shared_bytes = shared_bytes};
    struct parameters parameters;
    CUresult result;

    parameters.block = parameters.made = NULL;
    parameters.bytes = 0;
    if (gpu != function_gpu(function))
        return CUDA_ERROR_INVALID_HANDLE;
    result = geometry_check(function, grid, block, shared_bytes);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(geometry.teams, grid, sizeof(geometry.teams));
    memcpy(geometry.threads, block, sizeof(geometry.threads));
    result = extra ? parameters_take(&parameters, extra)
                   : parameters_gather(&parameters, function, pointers);
    if (result == CUDA_SUCCESS)
        result =
            result_of(gpu, omprma_launch_packed(stream->queue, function->remote->function,
                                                &geometry, parameters.block, parameters.bytes));
    free(parameters.made);
    return result;
}

/* ---- exported ------------------------------------------------------------------------------- */

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **pointers, void **extra)
{
    const unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = function_check(function);
    if (result == CUDA_SUCCESS && pointers && extra)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS)
        result = stream_finish(found,
                               launch(found, function, grid, block, shared_bytes, pointers, extra));
    return api_end(&call, result);
}

/* Attributes that only hint are left out; those that change what the kernel may do are refused. */
static bool attribute_is_served(const CUlaunchAttribute *attribute)
{
    const unsigned *cluster = attribute->value.cluster;

    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        return true;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        return attribute->value.cooperative == 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER:
        return cluster[0] <= 1 && cluster[1] <= 1 && cluster[2] <= 1;
    default:
        return false;
    }
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **pointers,
                          void **extra)
{
    if (!config || (config->attribute_count && !config->attributes))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        if (!attribute_is_served(&config->attributes[i]))
            return CUDA_ERROR_NOT_SUPPORTED;
    }
    return cuLaunchKernel(function, config->grid[0], config->grid[1], config->grid[2],
                          config->block[0], config->block[1], config->block[2],
                          config->shared_bytes, config->stream, pointers, extra);
}
