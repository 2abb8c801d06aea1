/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * host_call.c: cuLaunchHostFunc() and cuStreamAddCallback(). face/driver/host_call.h calls the
 * functions; here is what the driver adds. After an error of the stream a host function is left out
 * and a callback is told. Neither may call the driver (driver.c).
 */
#include <stdlib.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/result.h"
#include "cuda/stream.h"
#include "face/driver/host_call.h"

struct stream_call {
    struct host_call base;
    struct stream *stream; /* held */
    CUstream handle;       /* as the program named it */
    CUhostFn function;     /* either of them */
    CUstreamCallback callback;
    void *data;
};

static void stream_call_run(struct host_call *base, omprma_status_t status)
{
    const struct stream_call *call = (const struct stream_call *)base;
    struct gpu *gpu = call->stream->context->gpu;
    CUresult result = status == OMPRMA_OK ? CUDA_SUCCESS : atomic_load(&gpu->lost);

    if (status != OMPRMA_OK && result == CUDA_SUCCESS)
        result = CUDA_ERROR_UNKNOWN;
    if (call->callback)
        call->callback(call->handle, result, call->data);
    else if (result == CUDA_SUCCESS)
        call->function(call->data);
}

static void stream_call_done(struct host_call *base)
{
    struct stream_call *call = (struct stream_call *)base;

    stream_drop(call->stream);
    free(call);
}

static CUresult stream_call_issue(struct stream *stream, struct stream_call *call)
{
    stream_hold(stream);
    call->stream = stream;
    CUresult result = result_of(stream->context->gpu, host_call_issue(stream->queue, &call->base));
    if (result != CUDA_SUCCESS)
        stream_call_done(&call->base);
    return result;
}

static CUresult stream_call_add(CUstream handle, CUhostFn function, CUstreamCallback callback,
                                void *data)
{
    struct call call;
    struct stream *stream;
    struct stream_call *made = NULL;
    CUresult result = api_begin_stream(&call, handle);

    if (result == CUDA_SUCCESS && !function && !callback)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        made = malloc(sizeof(*made));
        if (!made || !host_calls_start())
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, handle, &stream);
    if (result == CUDA_SUCCESS) {
        *made = (struct stream_call){.base = {.run = stream_call_run, .done = stream_call_done},
                                     .handle = handle,
                                     .function = function,
                                     .callback = callback,
                                     .data = data};
        result = stream_finish(stream, stream_call_issue(stream, made));
    } else {
        free(made);
    }
    return api_end(&call, result);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    return stream_call_add(stream, function, NULL, data);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
{
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return stream_call_add(stream, NULL, callback, data);
}
