/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* rectangle.c: copies of rectangles and boxes between host and device memory, row by row; a
 * rectangle is a box of one layer. Arrays are not served. */
#include "cuda/copy.h"
#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/memory.h"

/* One end of the copy. */
struct side {
    bool host;
    uintptr_t address; /* of the first row */
    size_t pitch;      /* bytes from row to row */
    size_t layer;      /* bytes from layer to layer */
};

/* CU_MEMORY_UNIFIED: `device` is an address of either kind. */
static CUresult side_kind(struct context *context, int type, const void *host, CUdeviceptr device,
                          struct side *side)
{
    switch (type) {
    case CU_MEMORY_HOST:
        *side = (struct side){.host = true, .address = (uintptr_t)host};
        return CUDA_SUCCESS;
    case CU_MEMORY_DEVICE:
        *side = (struct side){.address = device};
        return CUDA_SUCCESS;
    case CU_MEMORY_UNIFIED:
        *side = (struct side){.host = !memory_owner(context, device), .address = device};
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* `pitch` and `height` of the memory: 0 where it is as wide or as high as what is copied. */
static CUresult side_place(struct side *side, const CUDA_MEMCPY3D *copy, const size_t at[3],
                           size_t pitch, size_t height)
{
    side->pitch = pitch ? pitch : copy->width_bytes;
    side->layer = side->pitch * (height ? height : copy->height);
    if (side->pitch < copy->width_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    side->address += at[2] * side->layer + at[1] * side->pitch + at[0];
    return CUDA_SUCCESS;
}

static CUresult copy_row(struct context *context, struct stream *stream, const struct side *to,
                         const struct side *from, size_t bytes, bool *wait)
{
    if (!to->host && !from->host)
        return copy_between(stream, memory_gpu(context, to->address), to->address,
                            memory_gpu(context, from->address), from->address, bytes);
    if (!to->host)
        return copy_to_device(stream, to->address, (const void *)from->address, bytes, wait);
    if (!from->host)
        return copy_from_device(stream, (void *)to->address, from->address, bytes, wait);
    return CUDA_ERROR_INVALID_VALUE; /* from host to host is none of a device's business */
}

/* One layer. */
static CUresult copy_rows(struct context *context, struct stream *stream, struct side to,
                          struct side from, size_t width, size_t rows, bool *wait)
{
    CUresult result = CUDA_SUCCESS;

    if (to.pitch == width && from.pitch == width) {
        width *= rows;
        rows = rows > 0;
    }
    for (; result == CUDA_SUCCESS && width > 0 && rows > 0; rows--) {
        result = copy_row(context, stream, &to, &from, width, wait);
        to.address += to.pitch;
        from.address += from.pitch;
    }
    return result;
}

static CUresult copy_layers(struct context *context, struct stream *stream,
                            const CUDA_MEMCPY3D *copy, bool *wait)
{
    struct side to, from;
    CUresult result = side_kind(context, copy->to_type, copy->to_host, copy->to_device, &to);

    if (result == CUDA_SUCCESS)
        result = side_kind(context, copy->from_type, copy->from_host, copy->from_device, &from);
    if (result == CUDA_SUCCESS)
        result = side_place(&to, copy, copy->to_xyz, copy->to_pitch, copy->to_height);
    if (result == CUDA_SUCCESS)
        result = side_place(&from, copy, copy->from_xyz, copy->from_pitch, copy->from_height);
    for (size_t left = copy->depth; result == CUDA_SUCCESS && left > 0; left--) {
        result = copy_rows(context, stream, to, from, copy->width_bytes, copy->height, wait);
        to.address += to.layer;
        from.address += from.layer;
    }
    return result;
}

static CUresult copy_3d(const CUDA_MEMCPY3D *copy, CUstream stream, bool wait)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS && !copy)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS) {
        if (wait) /* once, and not each row */
            result = stream_settle(found);
        if (result == CUDA_SUCCESS)
            result = copy_layers(call.context, found, copy, &wait);
        result = copy_finish(found, result, wait);
    }
    return api_end(&call, result);
}

static CUresult copy_2d(const CUDA_MEMCPY2D *copy, CUstream stream, bool wait)
{
    if (!copy)
        return copy_3d(NULL, stream, wait);
    return copy_3d(&(CUDA_MEMCPY3D){.from_xyz = {copy->from_x, copy->from_y},
                                    .from_type = copy->from_type,
                                    .from_host = copy->from_host,
                                    .from_device = copy->from_device,
                                    .from_pitch = copy->from_pitch,
                                    .to_xyz = {copy->to_x, copy->to_y},
                                    .to_type = copy->to_type,
                                    .to_host = copy->to_host,
                                    .to_device = copy->to_device,
                                    .to_pitch = copy->to_pitch,
                                    .width_bytes = copy->width_bytes,
                                    .height = copy->height,
                                    .depth = 1},
                   stream, wait);
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

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy)
{
    return copy_3d(copy, NULL, true);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    return copy_3d(copy, stream, false);
}
