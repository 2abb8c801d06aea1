/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fill.c: memset of all widths, and of rectangles. None of them waits, as with the driver. */
#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/result.h"
#include "cuda/stream.h"

struct rectangle {
    CUdeviceptr to;
    size_t pitch; /* bytes from row to row */
    size_t width; /* elements */
    size_t height;
};

static CUresult fill(struct stream *stream, const struct rectangle *rectangle, const void *value,
                     size_t element)
{
    struct gpu *gpu = stream->context->gpu;
    struct rectangle left = *rectangle;

    if (left.to % element || (left.height > 1 && left.pitch % element))
        return CUDA_ERROR_INVALID_VALUE;
    if (left.height > 1 && left.pitch < left.width * element)
        return CUDA_ERROR_INVALID_VALUE;
    if (left.pitch == left.width * element) {
        left.width *= left.height;
        left.height = 1;
    }
    for (; left.height > 0; left.height--, left.to += left.pitch) {
        omprma_status_t status = omprma_fill(stream->queue, left.to, value, element, left.width);
        if (status != OMPRMA_OK)
            return result_of(gpu, status);
    }
    return CUDA_SUCCESS;
}

static CUresult fill_begin(struct rectangle rectangle, const void *value, size_t element,
                           CUstream stream)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS)
        result = stream_finish(found, fill(found, &rectangle, value, element));
    return api_end(&call, result);
}

static struct rectangle row(CUdeviceptr to, size_t count)
{
    return (struct rectangle){.to = to, .width = count, .height = 1};
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    return fill_begin(row(to, count), &value, sizeof(value), stream);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    return fill_begin(row(to, count), &value, sizeof(value), stream);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    return fill_begin(row(to, count), &value, sizeof(value), stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count)
{
    return cuMemsetD8Async(to, value, count, NULL);
}

CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count)
{
    return cuMemsetD16Async(to, value, count, NULL);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count)
{
    return cuMemsetD32Async(to, value, count, NULL);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream)
{
    return fill_begin((struct rectangle){to, pitch, width, height}, &value, sizeof(value), stream);
}

CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream)
{
    return fill_begin((struct rectangle){to, pitch, width, height}, &value, sizeof(value), stream);
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream)
{
    return fill_begin((struct rectangle){to, pitch, width, height}, &value, sizeof(value), stream);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                         size_t height)
{
    return cuMemsetD2D8Async(to, pitch, value, width, height, NULL);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                          size_t height)
{
    return cuMemsetD2D16Async(to, pitch, value, width, height, NULL);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height)
{
    return cuMemsetD2D32Async(to, pitch, value, width, height, NULL);
}
