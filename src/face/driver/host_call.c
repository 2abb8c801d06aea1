/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * host_call.c: a hold of the queue (omprma_queue_hold()) says when the queue has come to the call.
 * omprma's callback must not wait, so it only lists the call for the thread, which runs it and ends
 * the hold. The function runs outside of the gate: it may take as long as it likes, and the end of
 * the process does not wait for it.
 */
#include "face/driver/host_call.h"

#include <pthread.h>

#include "face/gate.h"

static struct host_calls {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    STAILQ_HEAD(call_list, host_call) list; /* whose turn has come */
    bool running, ended;
} host_calls = {.lock = PTHREAD_MUTEX_INITIALIZER,
                .ready = PTHREAD_COND_INITIALIZER,
                .list = STAILQ_HEAD_INITIALIZER(host_calls.list)};

static pthread_t caller; /* valid while host_calls.running */

bool host_call_running(void)
{
    return __atomic_load_n(&host_calls.running, __ATOMIC_ACQUIRE) &&
           pthread_equal(caller, pthread_self());
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void host_call_make(struct host_call *call)
{
    call->run(call, call->status);
    if (!gate_enter()) /* the process ends */
        return;
    omprma_hold_end(call->hold);
    call->done(call);
    gate_leave();
}

static void *host_calls_run(void *unused)
{
    pthread_mutex_lock(&host_calls.lock);
    while (!host_calls.ended) {
        struct host_call *call = STAILQ_FIRST(&host_calls.list);
        if (!call) {
            pthread_cond_wait(&host_calls.ready, &host_calls.lock);
            continue;
        }
        STAILQ_REMOVE_HEAD(&host_calls.list, link);
        pthread_mutex_unlock(&host_calls.lock);
        host_call_make(call);
        pthread_mutex_lock(&host_calls.lock);
    }
    pthread_mutex_unlock(&host_calls.lock);
    return unused;
}

bool host_calls_start(void)
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

/* Called by omprma, on any thread, when the queue has come there. */
static void host_call_reached(omprma_hold_t *hold, void *data, omprma_status_t status)
{
    struct host_call *call = data;

    call->hold = hold;
    call->status = status;
    pthread_mutex_lock(&host_calls.lock);
    STAILQ_INSERT_TAIL(&host_calls.list, call, link);
    pthread_cond_signal(&host_calls.ready);
    pthread_mutex_unlock(&host_calls.lock);
}

omprma_status_t host_call_issue(omprma_queue_t *queue, struct host_call *call)
{
    return omprma_queue_hold(queue, host_call_reached, call);
}
