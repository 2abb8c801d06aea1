/* host_call.c: see host_call.h. */
#include "cuda/host_call.h"

#include <pthread.h>
#include <stdlib.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/result.h"
#include "cuda/stream.h"
#include "face/gate.h"

struct host_call {
    STAILQ_ENTRY(host_call) link;
    struct stream *stream; /* held */
    CUstream handle;       /* as the program named it */
    CUhostFn function;     /* either of them */
    CUstreamCallback callback;
    void *data;
    omprma_hold_t *hold;    /* of the stream, which has come here, */
    omprma_status_t status; /* so far with this result */
};

static struct host_calls {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    STAILQ_HEAD(call_queue, host_call) queue; /* whose turn has come */
    bool running, ended;
} host_calls = {.lock = PTHREAD_MUTEX_INITIALIZER,
                .ready = PTHREAD_COND_INITIALIZER,
                .queue = STAILQ_HEAD_INITIALIZER(host_calls.queue)};

static pthread_t caller; /* valid while host_calls.running */

bool host_call_running(void)
{
    return __atomic_load_n(&host_calls.running, __ATOMIC_ACQUIRE) &&
           pthread_equal(caller, pthread_self());
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void host_call_make(struct host_call *call)
{
    struct gpu *gpu = call->stream->context->gpu;
    CUresult result = call->status == OMPRMA_OK ? CUDA_SUCCESS : atomic_load(&gpu->lost);

    if (call->status != OMPRMA_OK && result == CUDA_SUCCESS)
        result = CUDA_ERROR_UNKNOWN;
    if (call->callback)
        call->callback(call->handle, result, call->data);
    else if (result == CUDA_SUCCESS) /* else it is left out */
        call->function(call->data);
}

static void *host_calls_run(void *unused)
{
    pthread_mutex_lock(&host_calls.lock);
    while (!host_calls.ended) {
        struct host_call *call = STAILQ_FIRST(&host_calls.queue);
        if (!call) {
            pthread_cond_wait(&host_calls.ready, &host_calls.lock);
            continue;
        }
        STAILQ_REMOVE_HEAD(&host_calls.queue, link);
        pthread_mutex_unlock(&host_calls.lock);
        host_call_make(call);
        if (gate_enter()) { /* else the process ends */
            omprma_hold_end(call->hold);
            stream_drop(call->stream);
            gate_leave();
        }
        free(call);
        pthread_mutex_lock(&host_calls.lock);
    }
    pthread_mutex_unlock(&host_calls.lock);
    return unused;
}

static bool host_calls_start(void)
{
    pthread_mutex_lock(&host_calls.lock);
    bool running = host_calls.running;
    if (!running && pthread_create(&caller, NULL, host_calls_run, NULL) == 0) {
        pthread_detach(caller);
        running = true;
        __atomic_store_n(&host_calls.running, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&host_calls.lock);
    return running;
}

/* A function of the program may never return, so nobody waits for the thread. */
void host_calls_end(void)
{
    pthread_mutex_lock(&host_calls.lock);
    host_calls.ended = true;
    pthread_cond_broadcast(&host_calls.ready);
    pthread_mutex_unlock(&host_calls.lock);
}

/* ---- adding one ----------------------------------------------------------------------------- */

/* Called by omprma, on any thread, when the stream has come there. */
static void host_call_ready(omprma_hold_t *hold, void *data, omprma_status_t status)
{
    struct host_call *call = data;

    call->hold = hold;
    call->status = status;
    pthread_mutex_lock(&host_calls.lock);
    STAILQ_INSERT_TAIL(&host_calls.queue, call, link);
    pthread_cond_signal(&host_calls.ready);
    pthread_mutex_unlock(&host_calls.lock);
}

static CUresult host_call_issue(struct stream *stream, struct host_call *call)
{
    stream_hold(stream);
    call->stream = stream;
    omprma_status_t status = omprma_queue_hold(stream->queue, host_call_ready, call);
    if (status == OMPRMA_OK)
        return CUDA_SUCCESS;
    CUresult result = result_of(stream->context->gpu, status);
    stream_drop(stream);
    free(call);
    return result;
}

static CUresult host_call_add(CUstream handle, CUhostFn function, CUstreamCallback callback,
                              void *data)
{
    struct call call;
    struct stream *stream;
    struct host_call *made = NULL;
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
        *made = (struct host_call){
            .handle = handle, .function = function, .callback = callback, .data = data};
        result = stream_finish(stream, host_call_issue(stream, made));
    } else {
        free(made);
    }
    return api_end(&call, result);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    return host_call_add(stream, function, NULL, data);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
{
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return host_call_add(stream, NULL, callback, data);
}
