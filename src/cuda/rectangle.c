/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rectangle.c: copies of rectangles between host and device memory, row by row. Arrays are not
 * served. */
#include "cuda/copy.h"
#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/memory.h"

/* One end of the copy. */
struct side {
    bool host;
    uintptr_t address; /* of the first row */
    size_t pitch;
};

/* CU_MEMORY_UNIFIED: `device` is an address of either kind. */
static CUresult side_of(struct context *context, int type, const void *host, CUdeviceptr device,
                        size_t x, size_t y, size_t pitch, size_t width, struct side *side)
{
    switch (type) {
    case CU_MEMORY_HOST:
        *side = (struct side){true, (uintptr_t)host, pitch};
        break;
    case CU_MEMORY_DEVICE:
        *side = (struct side){false, device, pitch};
        break;
    case CU_MEMORY_UNIFIED:
        *side = (struct side){!memory_owner(context, device), device, pitch};
        break;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (side->pitch == 0)
        side->pitch = width;
    if (side->pitch < width)
        return CUDA_ERROR_INVALID_VALUE;
    side->address += y * side->pitch + x;
    return CUDA_SUCCESS;
}

static CUresult copy_row(struct context *context, struct stream *stream, const struct side *to,
                         const struct side *from, size_t bytes)
{
    if (!to->host && !from->host)
        return copy_between(stream, memory_gpu(context, to->address), to->address,
                            memory_gpu(context, from->address), from->address, bytes);
    if (!to->host)
        return copy_to_device(stream, to->address, (const void *)from->address, bytes);
    if (!from->host)
        return copy_from_device(stream, (void *)to->address, from->address, bytes);
    return CUDA_ERROR_INVALID_VALUE; /* from host to host is none of a device's business */
}

static CUresult copy_rows(struct context *context, struct stream *stream, const CUDA_MEMCPY2D *copy)
{
    size_t width = copy->width_bytes, rows = copy->height;
    struct side to, from;
    CUresult result = side_of(context, copy->to_type, copy->to_host, copy->to_device, copy->to_x,
                              copy->to_y, copy->to_pitch, width, &to);

    if (result == CUDA_SUCCESS)
        result = side_of(context, copy->from_type, copy->from_host, copy->from_device, copy->from_x,
                         copy->from_y, copy->from_pitch, width, &from);
    if (result == CUDA_SUCCESS && to.pitch == width && from.pitch == width) {
        width *= rows;
        rows = rows > 0;
    }
    for (; result == CUDA_SUCCESS && width > 0 && rows > 0; rows--) {
        result = copy_row(context, stream, &to, &from, width);
        to.address += to.pitch;
        from.address += from.pitch;
    }
    return result;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *copy, CUstream stream, bool wait)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS && !copy)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS) {
        result = copy_rows(call.context, found, copy);
        result = wait ? stream_finish_settled(found, result) : stream_finish(found, result);
    }
    return api_end(&call, result);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(copy, NULL, true);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(copy, NULL, true);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    return copy_2d(copy, stream, false);
}
