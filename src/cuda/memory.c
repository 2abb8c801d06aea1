/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.c: memory is allocated by omprma on this side, without a message. Each GPU lists its
 * blocks (face/driver/block.h), because programs ask later where a block begins and whose it is.
 */
#include "cuda/memory.h"

#include <string.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/remote.h"
#include "cuda/result.h"
#include "cuda/stream.h"

/* ---- blocks --------------------------------------------------------------------------------- */

enum { ALIGNMENT = 256 }; /* programs count on it */

static CUresult memory_alloc(struct context *context, size_t bytes, CUdeviceptr *address)
{
    struct gpu *gpu = context->gpu;
    struct block block = {.owner = context};

    if (!address || bytes == 0 || bytes > SIZE_MAX - 2 * ALIGNMENT)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = result_of(gpu, block_alloc(gpu->device, bytes, ALIGNMENT, &block));
    if (result != CUDA_SUCCESS)
        return result;
    if (blocks_add(&gpu->blocks, &block) == BLOCK_NO_MEMORY) {
        omprma_free(gpu->device, block.given);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *address = block.address;
    return CUDA_SUCCESS;
}

/* Takes out the block, of whichever GPU. */
static struct gpu *memory_take(struct context *context, omprma_addr_t address, struct block *block)
{
    struct gpu *own = context ? context->gpu : NULL;

    if (own && blocks_take(&own->blocks, address, NULL, block))
        return own;
    for (int i = 0; i < gpu_count(); i++) {
        struct gpu *gpu = gpu_at(i);
        if (gpu != own && blocks_take(&gpu->blocks, address, NULL, block))
            return gpu;
    }
    return NULL;
}

/* What is under way on the block goes on: omprma hands it out again when that is over. */
static CUresult memory_free(struct context *context, CUdeviceptr address)
{
    struct block block;

    if (address == 0)
        return CUDA_SUCCESS;
    struct gpu *gpu = memory_take(context, address, &block);
    if (!gpu)
        return CUDA_ERROR_INVALID_VALUE;
    return result_of(gpu, omprma_free(gpu->device, block.given));
}

void memory_clear(struct context *context)
{
    struct block block;

    while (blocks_take_any(&context->gpu->blocks, context, NULL, &block))
        omprma_free(context->gpu->device, block.given);
}

static struct gpu *memory_find(struct context *context, omprma_addr_t address, struct block *block)
{
    if (blocks_find(&context->gpu->blocks, address, block))
        return context->gpu;
    for (int i = 0; i < gpu_count(); i++) {
        struct gpu *gpu = gpu_at(i);
        if (gpu != context->gpu && blocks_find(&gpu->blocks, address, block))
            return gpu;
    }
    return NULL;
}

struct gpu *memory_owner(struct context *context, omprma_addr_t address)
{
    struct block block;
    return memory_find(context, address, &block);
}

struct gpu *memory_gpu(struct context *context, omprma_addr_t address)
{
    struct gpu *owner = memory_owner(context, address);
    return owner ? owner : context->gpu;
}

/* ---- exported ------------------------------------------------------------------------------- */

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS)
        result = memory_alloc(call.context, bytes, address);
    return api_end(&call, result);
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS)
        result = memory_free(call.context, address);
    return api_end(&call, result);
}

/* Memory is the context's at once, which is more than a stream's order asks for. */
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS)
        result = stream_finish(found, memory_alloc(found->context, bytes, address));
    return api_end(&call, result);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS)
        result = stream_finish(found, memory_free(found->context, address));
    return api_end(&call, result);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width_bytes, size_t height,
                            unsigned element_bytes)
{
    enum { PITCH = 512 };
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS &&
        (!pitch || width_bytes == 0 || height == 0 || width_bytes > SIZE_MAX / height - PITCH ||
         (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        size_t wide = (width_bytes + PITCH - 1) / PITCH * PITCH;
        result = memory_alloc(call.context, wide * height, address);
        if (result == CUDA_SUCCESS)
            *pitch = wide;
    }
    return api_end(&call, result);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    struct call call;
    omprma_device_info_t info;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS && (!free_bytes || !total_bytes))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = result_of(call.context->gpu, omprma_device_info(call.context->gpu->device, &info));
    if (result == CUDA_SUCCESS) {
        *free_bytes = info.memory_bytes > info.used_bytes ? info.memory_bytes - info.used_bytes : 0;
        *total_bytes = call.context->gpu->properties.total_bytes;
    }
    return api_end(&call, result);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *begin, size_t *bytes, CUdeviceptr address)
{
    struct call call;
    struct block block;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS && !memory_find(call.context, address, &block))
        result = CUDA_ERROR_NOT_FOUND;
    if (result == CUDA_SUCCESS && begin)
        *begin = block.address;
    if (result == CUDA_SUCCESS && bytes)
        *bytes = block.bytes;
    return api_end(&call, result);
}

/* ---- whose an address is -------------------------------------------------------------------- */

static CUresult pointer_attribute(void *value, int attribute, struct gpu *gpu,
                                  const struct block *block, CUdeviceptr address)
{
    switch (attribute) {
    case CU_POINTER_CONTEXT:
        *(CUcontext *)value = block->owner;
        return CUDA_SUCCESS;
    case CU_POINTER_MEMORY_TYPE:
        *(unsigned *)value = CU_MEMORY_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_DEVICE_POINTER:
        *(CUdeviceptr *)value = address;
        return CUDA_SUCCESS;
    case CU_POINTER_IS_MANAGED:
        *(unsigned *)value = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_DEVICE_ORDINAL:
        *(int *)value = gpu->ordinal;
        return CUDA_SUCCESS;
    case CU_POINTER_RANGE_START:
        *(CUdeviceptr *)value = block->address;
        return CUDA_SUCCESS;
    case CU_POINTER_RANGE_BYTES:
        *(size_t *)value = block->bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_MAPPED:
        *(unsigned char *)value = 1;
        return CUDA_SUCCESS;
    default: /* no host pointer among them */
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address)
{
    struct call call;
    struct block block;
    CUresult result = api_begin(&call);
    struct gpu *gpu = result == CUDA_SUCCESS ? memory_find(call.context, address, &block) : NULL;

    if (result == CUDA_SUCCESS && (!value || !gpu))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = pointer_attribute(value, attribute, gpu, &block, address);
    return api_end(&call, result);
}

/* What cuPointerGetAttributes() says of an address that is no GPU's, or has no such property: zero
 * of as many bytes as the attribute has. 0: there is no such attribute. */
static size_t pointer_attribute_bytes(int attribute)
{
    switch (attribute) {
    case CU_POINTER_P2P_TOKENS:
        return 16;
    case CU_POINTER_CONTEXT:
    case CU_POINTER_DEVICE_POINTER:
    case CU_POINTER_HOST_POINTER:
    case CU_POINTER_BUFFER_ID:
    case CU_POINTER_RANGE_START:
    case CU_POINTER_RANGE_BYTES:
    case CU_POINTER_HANDLE_TYPES:
    case CU_POINTER_POOL:
        return 8;
    case CU_POINTER_MEMORY_TYPE:
    case CU_POINTER_SYNC_MEMOPS:
    case CU_POINTER_IS_MANAGED:
    case CU_POINTER_DEVICE_ORDINAL:
    case CU_POINTER_ACCESS_FLAGS:
        return 4;
    case CU_POINTER_IPC_CAPABLE:
    case CU_POINTER_MAPPED:
    case CU_POINTER_RDMA_CAPABLE:
        return 1;
    default:
        return 0;
    }
}

CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **values, CUdeviceptr address)
{
    enum { NO_DEVICE = -2 };
    struct call call;
    struct block block;
    CUresult result = api_begin(&call);
    struct gpu *gpu = result == CUDA_SUCCESS ? memory_find(call.context, address, &block) : NULL;

    if (result == CUDA_SUCCESS && (count == 0 || !attributes || !values))
        result = CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        size_t bytes = pointer_attribute_bytes(attributes[i]);
        if (bytes == 0 || !values[i])
            result = CUDA_ERROR_INVALID_VALUE;
        else if (!gpu || pointer_attribute(values[i], attributes[i], gpu, &block, address))
            memset(values[i], 0, bytes);
        if (result == CUDA_SUCCESS && !gpu && attributes[i] == CU_POINTER_DEVICE_ORDINAL)
            *(int *)values[i] = NO_DEVICE;
    }
    return api_end(&call, result);
}
