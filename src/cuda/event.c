/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * event.c: events, and when they were.
 *
 * Times are the application's clock, read when it learns that an event is complete. What a busy
 * stream says about an event costs a message of its own, so it is only asked for once the program
 * has asked for a time (most never do). Before that, an event's time is when the program saw that
 * it is complete, or, of the first of two events, when it was recorded.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/result.h"
#include "cuda/stream.h"

/* One recording; freed by whoever has the last reference: the event, omprma's callback. */
struct moment {
    atomic_int references;
    int64_t recorded_ns;
    atomic_int_least64_t complete_ns; /* 0: not known */
};

struct event {
    uint32_t tag; /* EVENT_TAG */
    unsigned flags;
    struct gpu *_Atomic gpu; /* whose stream it was last recorded in */
    omprma_event_t *event;
    pthread_mutex_t lock;  /* guards what follows */
    struct moment *moment; /* NULL: never recorded, or without times */
};
enum { EVENT_TAG = 0x45564e54 };

static atomic_bool times_wanted;

/* ---- moments -------------------------------------------------------------------------------- */

static void moment_drop(struct moment *moment)
{
    if (moment && atomic_fetch_sub(&moment->references, 1) == 1)
        free(moment);
}

static void moment_complete(struct moment *moment)
{
    int64_t unknown = 0;
    if (moment)
        atomic_compare_exchange_strong(&moment->complete_ns, &unknown, clock_ns());
}

static void moment_noticed(void *data, omprma_status_t status)
{
    (void)status;
    moment_complete(data);
    moment_drop(data);
}

/* NULL: no memory; then the event has no time. */
static struct moment *moment_make(struct stream *stream)
{
    struct moment *moment = calloc(1, sizeof(*moment));

    if (!moment)
        return NULL;
    atomic_store(&moment->references, 1);
    moment->recorded_ns = clock_ns();
    if (stream_is_settled(stream)) {
        atomic_store(&moment->complete_ns, moment->recorded_ns);
    } else if (atomic_load(&times_wanted)) {
        atomic_fetch_add(&moment->references, 1);
        if (omprma_queue_notify(stream->queue, moment_noticed, moment) != OMPRMA_OK)
            moment_drop(moment);
    }
    return moment;
}

/* ---- exported ------------------------------------------------------------------------------- */

static CUresult event_check(CUevent event)
{
    return event && event->tag == EVENT_TAG ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult event_begin(struct call *call, CUevent event)
{
    CUresult result = api_begin_bare(call);
    if (result == CUDA_SUCCESS)
        result = event_check(event);
    if (result == CUDA_SUCCESS)
        result = atomic_load(&event->gpu->lost);
    return result;
}

static CUresult event_make(struct gpu *gpu, unsigned flags, CUevent *event)
{
    struct event *made = calloc(1, sizeof(*made));

    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = result_of(gpu, omprma_event_create(&made->event));
    if (result != CUDA_SUCCESS) {
        free(made);
        return result;
    }
    made->tag = EVENT_TAG;
    made->flags = flags;
    made->gpu = gpu;
    pthread_mutex_init(&made->lock, NULL);
    *event = made;
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    enum { KNOWN = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS };
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS && (!event || (flags & ~(unsigned)KNOWN)))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && (flags & CU_EVENT_INTERPROCESS))
        result = CUDA_ERROR_NOT_SUPPORTED;
    if (result == CUDA_SUCCESS)
        result = event_make(call.context->gpu, flags, event);
    return api_end(&call, result);
}

CUresult cuEventDestroy_v2(CUevent event)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS)
        result = event_check(event);
    if (result == CUDA_SUCCESS) {
        omprma_event_destroy(event->event);
        moment_drop(event->moment);
        event->tag = 0;
        pthread_mutex_destroy(&event->lock);
        free(event);
    }
    return api_end(&call, result);
}

CUresult cuEventDestroy(CUevent event)
{
    return cuEventDestroy_v2(event);
}

/* LLVM 14's runtime takes events of one GPU for streams of another. The driver would refuse them;
 * here an event belongs to none, and such programs can have several GPUs. */
static CUresult event_record(struct event *event, struct stream *stream)
{
    event->gpu = stream->context->gpu;
    CUresult result = result_of(event->gpu, omprma_event_record(event->event, stream->queue));
    if (result != CUDA_SUCCESS)
        return result;
    struct moment *moment = event->flags & CU_EVENT_DISABLE_TIMING ? NULL : moment_make(stream);
    pthread_mutex_lock(&event->lock);
    struct moment *old = event->moment;
    event->moment = moment;
    pthread_mutex_unlock(&event->lock);
    moment_drop(old);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    struct call call;
    struct stream *found;
    CUresult result = api_begin_stream(&call, stream);

    if (result == CUDA_SUCCESS)
        result = event_check(event);
    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS)
        result = stream_finish(found, event_record(event, found));
    return api_end(&call, result);
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    return flags ? CUDA_ERROR_NOT_SUPPORTED : cuEventRecord(event, stream);
}

static void event_complete(struct event *event)
{
    pthread_mutex_lock(&event->lock);
    moment_complete(event->moment);
    pthread_mutex_unlock(&event->lock);
}

CUresult cuEventQuery(CUevent event)
{
    struct call call;
    bool done = false;
    CUresult result = event_begin(&call, event);

    if (result == CUDA_SUCCESS)
        result = result_of(event->gpu, omprma_event_query(event->event, &done));
    if (result == CUDA_SUCCESS && !done)
        result = CUDA_ERROR_NOT_READY;
    if (result == CUDA_SUCCESS) { /* its error, if it has one */
        result = result_of(event->gpu, omprma_event_synchronize(event->event));
        event_complete(event);
    }
    return api_end(&call, result);
}

CUresult cuEventSynchronize(CUevent event)
{
    struct call call;
    CUresult result = event_begin(&call, event);

    if (result == CUDA_SUCCESS) {
        result = result_of(event->gpu, omprma_event_synchronize(event->event));
        event_complete(event);
    }
    return api_end(&call, result);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    struct call call;
    struct stream *found;
    CUresult result = flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;

    if (result != CUDA_SUCCESS)
        return result;
    result = api_begin_stream(&call, stream);
    if (result == CUDA_SUCCESS)
        result = event_check(event);
    if (result == CUDA_SUCCESS)
        result = stream_begin(call.context, stream, &found);
    if (result == CUDA_SUCCESS)
        result = stream_finish(
            found, result_of(found->context->gpu, omprma_event_wait(event->event, found->queue)));
    return api_end(&call, result);
}

/* ---- times ---------------------------------------------------------------------------------- */

/* Errors: INVALID_HANDLE (it was never recorded, or without times), NOT_READY. */
static CUresult event_time(struct event *event, bool first, int64_t *ns)
{
    CUresult result = CUDA_SUCCESS;
    bool done = false;

    if ((event->flags & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&event->lock);
    struct moment *moment = event->moment;
    if (!moment) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else {
        result = result_of(event->gpu, omprma_event_query(event->event, &done));
        if (result == CUDA_SUCCESS && !done)
            result = CUDA_ERROR_NOT_READY;
    }
    if (result == CUDA_SUCCESS) {
        int64_t complete = atomic_load(&moment->complete_ns);
        if (!complete && first)
            complete = moment->recorded_ns;
        *ns = complete ? complete : clock_ns();
    }
    pthread_mutex_unlock(&event->lock);
    return result;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    struct call call;
    int64_t from = 0, to = 0;
    CUresult result = event_begin(&call, start);

    if (result == CUDA_SUCCESS)
        result = event_check(end);
    if (result == CUDA_SUCCESS && !milliseconds)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = event_time(start, true, &from);
    if (result == CUDA_SUCCESS)
        result = event_time(end, false, &to);
    if (result == CUDA_SUCCESS)
        *milliseconds = (float)((double)(to - from) / 1e6);
    atomic_store(&times_wanted, true);
    return api_end(&call, result);
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    return cuEventElapsedTime(milliseconds, start, end);
}
