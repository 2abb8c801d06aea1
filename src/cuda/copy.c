/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy.c: when the host's memory is read and written. The driver reads and writes pinned memory
 * when the stream comes to the copy, so a host function, or another stream in front of an event,
 * may fill the source. Pageable sources it reads before cuMemcpyHtoDAsync() returns: small ones are
 * read by the call, large ones are waited for. From cuMemcpyDtoHAsync() to pageable memory it
 * returns when the data is there. Synchronous copies wait for their stream before they read.
 *
 * OpenMP's and OpenACC's runtimes keep what they copy from, and do not look at what they copy to,
 * until they have synchronised. omprma-run says so for their programs, and then nothing is copied
 * or waited for.
 *
 * Copies between GPUs run in a queue of the source's GPU.
 */
#include "cuda/copy.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <omprma_private/in_turn.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/host_memory.h"
#include "cuda/memory.h"
#include "cuda/result.h"

/* Largest pageable source that is read by the call; larger ones are waited for. */
enum { COPIED_MOST = 1 << 20 };

/* ---- host to device ------------------------------------------------------------------------- */

static bool sources_kept;

static void sources_ask(void)
{
    const char *kept = getenv("OMPRMA_INTERNAL_SOURCES_KEPT");
    sources_kept = kept && strcmp(kept, "1") == 0;
}

/* Does the program leave the host's memory alone until it has synchronised? */
static bool program_keeps(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, sources_ask);
    return sources_kept;
}

CUresult copy_to_device(struct stream *stream, CUdeviceptr to, const void *from, size_t bytes,
                        bool *wait)
{
    omprma_status_t status;

    if (bytes > 0 && !from)
        return CUDA_ERROR_INVALID_VALUE;
    if (*wait || (!program_keeps() && host_memory_is_pinned(from, bytes))) {
        status = omprma_submit_in_turn(stream->queue, to, from, bytes);
    } else if (program_keeps()) {
        status = omprma_submit(stream->queue, to, from, bytes);
    } else if (bytes <= COPIED_MOST) {
        status = omprma_submit_copied(stream->queue, to, from, bytes);
    } else {
        *wait = true;
        status = omprma_submit(stream->queue, to, from, bytes);
    }
    return result_of(stream->context->gpu, status);
}

/* ---- device to host ------------------------------------------------------------------------- */

CUresult copy_from_device(struct stream *stream, void *to, CUdeviceptr from, size_t bytes,
                          bool *wait)
{
    if (bytes > 0 && !to)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > 0 && !program_keeps() && !host_memory_is_pinned(to, bytes))
        *wait = true;
    return result_of(stream->context->gpu, omprma_retrieve(stream->queue, to, from, bytes));
}

CUresult copy_finish(struct stream *stream, CUresult result, bool wait)
{
    return wait ? stream_finish_settled(stream, result) : stream_finish(stream, result);
}

/* ---- device to device ----------------------------------------------------------------------- */

/* omprma copies in the order of a queue of the source's device. Where the stream is another GPU's,
 * a queue of the source's waits for the stream, and the stream for it. */
static omprma_status_t copy_by_helper(struct stream *stream, struct gpu *to_gpu, CUdeviceptr to,
                                      struct gpu *from_gpu, CUdeviceptr from, size_t bytes)
{
    omprma_event_t *event = NULL;
    omprma_status_t status = omprma_event_create(&event);

    pthread_mutex_lock(&from_gpu->helper_lock);
    if (status == OMPRMA_OK && !from_gpu->helper)
        status = omprma_queue_create(from_gpu->device, &from_gpu->helper);
    if (status == OMPRMA_OK)
        status = omprma_event_record(event, stream->queue);
    if (status == OMPRMA_OK)
        status = omprma_event_wait(event, from_gpu->helper);
    if (status == OMPRMA_OK)
        status = omprma_exchange(from_gpu->helper, from, to_gpu->device, to, bytes);
    if (status == OMPRMA_OK)
        status = omprma_event_record(event, from_gpu->helper);
    if (status == OMPRMA_OK)
        status = omprma_event_wait(event, stream->queue);
    pthread_mutex_unlock(&from_gpu->helper_lock);
    omprma_event_destroy(event);
    return status;
}

/* Memory that is freed is handed out again when the queues of its own GPU are beyond what used it.
 * So where only other GPUs' queues copy to it, one of its own waits for them. That one may fail as
 * they do, which they tell themselves. */
static omprma_status_t expect_arrival(struct stream *stream, struct gpu *to_gpu)
{
    omprma_event_t *event = NULL;
    omprma_status_t status = omprma_event_create(&event);

    pthread_mutex_lock(&to_gpu->helper_lock);
    if (status == OMPRMA_OK && !to_gpu->arrivals)
        status = omprma_queue_create(to_gpu->device, &to_gpu->arrivals);
    if (status == OMPRMA_OK)
        status = omprma_event_record(event, stream->queue);
    if (status == OMPRMA_OK && omprma_event_wait(event, to_gpu->arrivals) != OMPRMA_OK)
        omprma_queue_synchronize(to_gpu->arrivals);
    pthread_mutex_unlock(&to_gpu->helper_lock);
    omprma_event_destroy(event);
    return status;
}

CUresult copy_between(struct stream *stream, struct gpu *to_gpu, CUdeviceptr to,
                      struct gpu *from_gpu, CUdeviceptr from, size_t bytes)
{
    omprma_status_t status;

    if (stream->context->gpu == from_gpu)
        status = omprma_exchange(stream->queue, from, to_gpu->device, to, bytes);
    else
        status = copy_by_helper(stream, to_gpu, to, from_gpu, from, bytes);
    if (status == OMPRMA_OK && to_gpu != from_gpu && to_gpu != stream->context->gpu)
        status = expect_arrival(stream, to_gpu);
    return result_of(stream->context->gpu, status);
}

/* ---- exported: host and device -------------------------------------------------------------- */

static CUresult copy_in(CUdeviceptr to, const void *from, size_t bytes, CUstream stream, bool wait)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS) {
        result = copy_to_device(found, to, from, bytes, &wait);
        result = copy_finish(found, result, wait);
    }
    return api_end(&call, result);
}

static CUresult copy_out(void *to, CUdeviceptr from, size_t bytes, CUstream stream, bool wait)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS) {
        result = copy_from_device(found, to, from, bytes, &wait);
        result = copy_finish(found, result, wait);
    }
    return api_end(&call, result);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    return copy_in(to, from, bytes, NULL, true);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return copy_in(to, from, bytes, stream, false);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
    return copy_out(to, from, bytes, NULL, true);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy_out(to, from, bytes, stream, false);
}

/* ---- exported: between devices -------------------------------------------------------------- */

/* Addresses may be of any GPU. Copies between devices do not wait. */
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS)
        result = stream_finish(found, copy_between(found, memory_gpu(call.context, to), to,
                                                   memory_gpu(call.context, from), from, bytes));
    return api_end(&call, result);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return cuMemcpyDtoDAsync_v2(to, from, bytes, NULL);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream stream)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = context_check(to_context);
    if (result == CUDA_SUCCESS)
        result = context_check(from_context);
    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS)
        result = stream_finish(
            found, copy_between(found, to_context->gpu, to, from_context->gpu, from, bytes));
    return api_end(&call, result);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t bytes)
{
    return cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, NULL);
}

/* ---- exported: any to any ------------------------------------------------------------------- */

/* What is no block of a GPU is host memory. (Host memory that lies where a GPU has a block cannot
 * be told from it: CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING says no.) */
static CUresult copy_any(struct context *context, struct stream *stream, CUdeviceptr to,
                         CUdeviceptr from, size_t bytes, bool *wait)
{
    struct gpu *to_gpu = memory_owner(context, to), *from_gpu = memory_owner(context, from);

    if (to_gpu && from_gpu)
        return copy_between(stream, to_gpu, to, from_gpu, from, bytes);
    if (to_gpu && to_gpu == stream->context->gpu)
        return copy_to_device(stream, to, (const void *)(uintptr_t)from, bytes, wait);
    if (from_gpu && from_gpu == stream->context->gpu)
        return copy_from_device(stream, (void *)(uintptr_t)to, from, bytes, wait);
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult copy_whichever(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream,
                               bool wait)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS) {
        result = copy_any(call.context, found, to, from, bytes, &wait);
        result = copy_finish(found, result, wait);
    }
    return api_end(&call, result);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy_whichever(to, from, bytes, NULL, true);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy_whichever(to, from, bytes, stream, false);
}
