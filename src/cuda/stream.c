/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stream.c: a handle stands for a stream that the program has created, or for the context's null
 * stream or the thread's own one, which are made when they are first used. One that is destroyed
 * can no longer be named, but stays in its context's list, where those find it who wait for the
 * context or join the null stream, until its work is over and nobody holds it. Nobody is told when
 * that is: whoever makes or destroys a stream, or waits for all, looks for such ones
 * (streams_sweep()).
 *
 * Implicit synchronisation: a stream counts what is issued into it. The null stream remembers up to
 * where it has been made to wait for each blocking stream, and each of them up to where it waits
 * for the null stream; where nothing has come since, no event is needed. A context without a null
 * stream needs none of it.
 */
#include "cuda/stream.h"

#include <stdlib.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/result.h"
#include "cuda/thread.h"
#include "face/driver/guard.h"

/* ---- life ----------------------------------------------------------------------------------- */

static void stream_free(struct stream *stream)
{
    omprma_event_destroy(stream->mark);
    stream->tag = 0;
    free(stream);
}

/* Under the context's lock. */
static CUresult stream_make(struct context *context, unsigned flags, struct stream **stream)
{
    struct stream *made = calloc(1, sizeof(*made));
    struct gpu *gpu = context->gpu;

    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->tag = STREAM_TAG;
    made->flags = flags;
    made->context = context;
    CUresult result = result_of(gpu, guard_go_on());
    if (result == CUDA_SUCCESS)
        result = result_of(gpu, omprma_event_create(&made->mark));
    if (result == CUDA_SUCCESS)
        result = result_of(gpu, omprma_queue_create(gpu->device, &made->queue));
    if (result != CUDA_SUCCESS) {
        stream_free(made);
        return result;
    }
    LIST_INSERT_HEAD(&context->streams, made, link);
    *stream = made;
    return CUDA_SUCCESS;
}

void stream_hold(struct stream *stream)
{
    atomic_fetch_add(&stream->holders, 1);
}

void stream_drop(struct stream *stream)
{
    atomic_fetch_sub(&stream->holders, 1);
}

/* Under the context's lock: nobody can come to hold it any more. */
static bool stream_is_over(const struct stream *stream)
{
    bool done = false;

    return stream->tag != STREAM_TAG && atomic_load(&stream->holders) == 0 &&
           (omprma_queue_query(stream->queue, &done) != OMPRMA_OK || done);
}

/* Frees those that are destroyed and whose work is over. Under the context's lock. */
static void streams_sweep(struct context *context)
{
    struct stream *next = NULL;

    for (struct stream *each = LIST_FIRST(&context->streams); each; each = next) {
        next = LIST_NEXT(each, link);
        if (stream_is_over(each)) {
            LIST_REMOVE(each, link);
            omprma_queue_destroy(each->queue);
            stream_free(each);
        }
    }
}

/* ---- which stream a handle stands for ------------------------------------------------------- */

static CUresult stream_legacy(struct context *context, struct stream **stream)
{
    CUresult result = CUDA_SUCCESS;

    *stream = context->legacy;
    if (!*stream) {
        result = stream_make(context, 0, stream);
        if (result == CUDA_SUCCESS)
            context->legacy = *stream;
    }
    return result;
}

static CUresult stream_of_thread(struct context *context, struct stream **stream)
{
    const void *self = thread_self();
    struct stream *each = NULL;

    if (!self)
        return CUDA_ERROR_OUT_OF_MEMORY;
    LIST_FOREACH(each, &context->streams, link)
    {
        if (each->thread == self && each->tag == STREAM_TAG) {
            *stream = each;
            return CUDA_SUCCESS;
        }
    }
    CUresult result = stream_make(context, 0, stream);
    if (result == CUDA_SUCCESS)
        (*stream)->thread = self;
    return result;
}

static bool is_created(CUstream handle)
{
    return handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD;
}

CUresult stream_context(CUstream handle, struct context **context)
{
    if (is_created(handle)) {
        if (handle->tag != STREAM_TAG)
            return CUDA_ERROR_INVALID_HANDLE;
        *context = handle->context;
        return CUDA_SUCCESS;
    }
    *context = thread_context();
    return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* Held for the caller. `context` is what stream_context() says. */
static CUresult stream_find(struct context *context, CUstream handle, struct stream **stream)
{
    CUresult result = CUDA_SUCCESS;

    if (is_created(handle)) {
        *stream = handle;
        stream_hold(handle);
        return CUDA_SUCCESS;
    }
    pthread_mutex_lock(&context->lock);
    result = handle == CU_STREAM_PER_THREAD ? stream_of_thread(context, stream)
                                            : stream_legacy(context, stream);
    if (result == CUDA_SUCCESS)
        stream_hold(*stream);
    pthread_mutex_unlock(&context->lock);
    return result;
}

/* ---- implicit synchronisation --------------------------------------------------------------- */

bool stream_is_settled(struct stream *stream)
{
    return atomic_load(&stream->settled) == atomic_load(&stream->issued);
}

/* Under the context's lock. */
static CUresult join(struct stream *stream, struct stream *other)
{
    if (stream_is_settled(other))
        return CUDA_SUCCESS;
    omprma_status_t status = omprma_event_record(other->mark, other->queue);
    if (status == OMPRMA_OK)
        status = omprma_event_wait(other->mark, stream->queue);
    return result_of(stream->context->gpu, status);
}

static CUresult join_all(struct stream *legacy)
{
    CUresult result = CUDA_SUCCESS;
    struct stream *each = NULL;

    LIST_FOREACH(each, &legacy->context->streams, link)
    {
        uint64_t issued = atomic_load(&each->issued);
        if (each == legacy || (each->flags & CU_STREAM_NON_BLOCKING) || each->joined == issued)
            continue;
        result = join(legacy, each);
        if (result != CUDA_SUCCESS)
            break;
        each->joined = issued;
    }
    return result;
}

static CUresult join_legacy(struct stream *stream, struct stream *legacy)
{
    uint64_t issued = atomic_load(&legacy->issued);
    CUresult result = CUDA_SUCCESS;

    if (stream->legacy_joined != issued) {
        result = join(stream, legacy);
        if (result == CUDA_SUCCESS)
            stream->legacy_joined = issued;
    }
    return result;
}

static CUresult stream_join(struct stream *stream)
{
    struct context *context = stream->context;
    CUresult result = CUDA_SUCCESS;

    if ((stream->flags & CU_STREAM_NON_BLOCKING) || !context->legacy)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&context->lock);
    if (stream == context->legacy)
        result = join_all(stream);
    else if (context->legacy)
        result = join_legacy(stream, context->legacy);
    pthread_mutex_unlock(&context->lock);
    return result;
}

/* ---- operations ----------------------------------------------------------------------------- */

CUresult stream_begin(struct context *context, CUstream handle, struct stream **stream)
{
    struct stream *found;
    CUresult result = stream_find(context, handle, &found);

    if (result != CUDA_SUCCESS)
        return result;
    result = stream_join(found);
    if (result != CUDA_SUCCESS)
        stream_drop(found);
    else
        *stream = found;
    return result;
}

CUresult stream_finish(struct stream *stream, CUresult result)
{
    atomic_fetch_add(&stream->issued, 1);
    stream_drop(stream);
    return result;
}

CUresult stream_settle(struct stream *stream)
{
    uint64_t issued = atomic_load(&stream->issued);
    omprma_status_t status = omprma_queue_synchronize(stream->queue);
    CUresult result = result_of(stream->context->gpu, status);
    if (status == OMPRMA_OK)
        atomic_store(&stream->settled, issued);
    return result;
}

CUresult stream_finish_settled(struct stream *stream, CUresult result)
{
    atomic_fetch_add(&stream->issued, 1);
    CUresult ended = stream_settle(stream);
    stream_drop(stream);
    return result != CUDA_SUCCESS ? result : ended;
}

/* ---- all streams of a context --------------------------------------------------------------- */

/* The one behind it in the list, held; of NULL the first one. NULL: none is left. What is held
 * stays in the list. New ones come in front. */
static struct stream *stream_next(struct context *context, struct stream *stream)
{
    pthread_mutex_lock(&context->lock);
    struct stream *next = stream ? LIST_NEXT(stream, link) : LIST_FIRST(&context->streams);
    if (next)
        stream_hold(next);
    if (stream)
        stream_drop(stream);
    if (!next)
        streams_sweep(context);
    pthread_mutex_unlock(&context->lock);
    return next;
}

CUresult streams_settle(struct context *context)
{
    CUresult result = CUDA_SUCCESS;
    struct stream *each = NULL;

    while ((each = stream_next(context, each))) {
        CUresult ended = stream_settle(each);
        if (result == CUDA_SUCCESS)
            result = ended;
    }
    return result;
}

/* The program cannot name it any more. Under the context's lock. */
static bool stream_end(struct stream *stream)
{
    bool there = stream->tag == STREAM_TAG;

    stream->tag = ~(uint32_t)STREAM_TAG;
    if (stream->context->legacy == stream)
        stream->context->legacy = NULL;
    return there;
}

void streams_clear(struct context *context)
{
    struct stream *each = NULL;

    streams_settle(context);
    pthread_mutex_lock(&context->lock);
    LIST_FOREACH(each, &context->streams, link)
    {
        stream_end(each);
    }
    streams_sweep(context);
    pthread_mutex_unlock(&context->lock);
}

/* ---- exported ------------------------------------------------------------------------------- */

/* There is one priority. */
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    struct call call;
    CUresult result = api_begin(&call);

    (void)priority;
    if (result == CUDA_SUCCESS && (!stream || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING)))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&call.context->lock);
        streams_sweep(call.context);
        result = stream_make(call.context, flags, stream);
        pthread_mutex_unlock(&call.context->lock);
    }
    return api_end(&call, result);
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return cuStreamCreateWithPriority(stream, flags, 0);
}

/* What is under way in it goes on. */
CUresult cuStreamDestroy_v2(CUstream stream)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS && (!is_created(stream) || stream->tag != STREAM_TAG))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS) {
        struct context *context = stream->context;
        pthread_mutex_lock(&context->lock);
        if (!stream_end(stream))
            result = CUDA_ERROR_INVALID_HANDLE;
        streams_sweep(context);
        pthread_mutex_unlock(&context->lock);
    }
    return api_end(&call, result);
}

CUresult cuStreamDestroy(CUstream stream)
{
    return cuStreamDestroy_v2(stream);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS) {
        result = stream_settle(found);
        stream_drop(found);
    }
    return api_end(&call, result);
}

static CUresult stream_query(struct stream *stream)
{
    bool done = false;
    struct gpu *gpu = stream->context->gpu;

    CUresult result = result_of(gpu, omprma_queue_query(stream->queue, &done));
    if (result != CUDA_SUCCESS)
        return result;
    return done ? stream_settle(stream) : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamQuery(CUstream stream)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = stream_find(call.context, stream, &found);
    if (result == CUDA_SUCCESS) {
        result = stream_query(found);
        stream_drop(found);
    }
    return api_end(&call, result);
}

/* Begins a call that only looks at a stream. */
static CUresult look(struct call *call, CUstream handle, const void *answer, struct stream **stream)
{
    CUresult result = api_begin_stream(call, handle);
    if (result == CUDA_SUCCESS && !answer)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = stream_find(call->context, handle, stream);
    return result;
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags)
{
    struct call call;
    struct stream *found;
    CUresult result = look(&call, stream, flags, &found);

    if (result == CUDA_SUCCESS) {
        *flags = found->flags;
        stream_drop(found);
    }
    return api_end(&call, result);
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
    struct call call;
    struct stream *found;
    CUresult result = look(&call, stream, priority, &found);

    if (result == CUDA_SUCCESS) {
        *priority = 0; /* there is one */
        stream_drop(found);
    }
    return api_end(&call, result);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    struct call call;
    struct stream *found;
    CUresult result = look(&call, stream, context, &found);

    if (result == CUDA_SUCCESS) {
        *context = found->context;
        stream_drop(found);
    }
    return api_end(&call, result);
}

/* No context is a part of a GPU. */
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, void **green)
{
    if (green)
        *green = NULL;
    return cuStreamGetCtx(stream, context);
}

CUresult cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext *context, void **green)
{
    return cuStreamGetCtx_v2(stream ? stream : CU_STREAM_PER_THREAD, context, green);
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *number)
{
    struct call call;
    struct stream *found;
    CUresult result = look(&call, stream, number, &found);

    if (result == CUDA_SUCCESS) {
        *number = (unsigned long long)(uintptr_t)found;
        stream_drop(found);
    }
    return api_end(&call, result);
}

/* Nothing is ever captured. */
CUresult cuStreamIsCapturing(CUstream stream, int *status)
{
    struct call call;
    struct stream *found;
    CUresult result = look(&call, stream, status, &found);

    if (result == CUDA_SUCCESS) {
        *status = 0;
        stream_drop(found);
    }
    return api_end(&call, result);
}
