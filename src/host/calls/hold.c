/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hold.c: queues that wait for the program, see omprma_queue_hold(). A hold is a task of its queue
 * that cannot begin before the program lets it go; until then nobody looks at it.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "host/calls/call.h"
#include "host/core/runtime.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"

struct omprma_hold {
    struct runtime *runtime;
    struct omprma_queue *queue;    /* NULL: its task has ended */
    struct completion *completion; /* NULL: it was handed over */
    bool ended;                    /* by the program */
    _Atomic bool dropped;          /* omprma has ended: nothing but this can be used any more */
    void (*reached)(struct omprma_hold *hold, void *data, omprma_status_t status);
    void *data;
};

static void call_program(void *data, omprma_status_t status)
{
    struct omprma_hold *hold = data;

    if (atomic_load(&hold->dropped)) {
        free(hold);
        return;
    }
    hold->reached(hold, hold->data, status);
}

static void reach(struct omprma_hold *hold, omprma_status_t status)
{
    hold->completion->status = status;
    completions_add(&hold->runtime->completions, hold->completion);
    hold->completion = NULL;
    hold->runtime->held_by_program++;
}

static omprma_status_t start(struct operation *operation, bool *started)
{
    struct omprma_hold *hold = operation->task.data;

    if (hold->runtime->ending)
        return error_set(OMPRMA_ERR_CLOSED, "omprma ends while the program holds a queue");
    if (hold->completion)
        reach(hold, OMPRMA_OK);
    *started = hold->ended;
    return OMPRMA_OK;
}

static omprma_status_t step(struct operation *operation, bool *done)
{
    (void)operation;
    *done = true;
    return OMPRMA_OK;
}

static void end(struct operation *operation)
{
    struct omprma_hold *hold = operation->task.data;

    hold->queue = NULL;
    if (hold->ended || (hold->runtime->ending && hold->completion)) {
        free(hold->completion);
        free(hold);
    } else if (hold->runtime->ending) { /* the callback, or the program, has it */
        atomic_store(&hold->dropped, true);
    } else if (hold->completion) {
        reach(hold, operation->failure->status);
    }
}

omprma_status_t omprma_queue_hold(omprma_queue_t *queue,
                                  void (*reached)(omprma_hold_t *hold, void *data,
                                                  omprma_status_t status),
                                  void *data)
{
    static const struct operation_task task = {
        .name = "hold",
        .waits_for = "the program",
        .start = start,
        .step = step,
        .end = end,
    };
    struct omprma_hold *hold;
    struct completion *completion;
    omprma_status_t status;

    if (!reached)
        return error_set(OMPRMA_ERR_ARGUMENT, "queue hold: callback is NULL");
    status = call_begin(queue);
    if (status != OMPRMA_OK)
        return status;
    hold = malloc(sizeof(*hold));
    completion = completion_make(call_program, hold);
    status = hold && completion
                 ? OMPRMA_OK
                 : error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a hold of a queue");
    if (status == OMPRMA_OK) {
        *hold = (struct omprma_hold){
            queue->device->runtime, queue, completion, false, false, reached, data};
        status = queue_append_task(queue, &task, hold, NULL);
    }
    if (status == OMPRMA_OK) {
        queue_advance(queue);
    } else {
        free(completion);
        free(hold);
    }
    return call_end(queue, status);
}

void omprma_hold_end(omprma_hold_t *hold)
{
    struct runtime *runtime = hold->runtime;

    if (runtime_is_parents())
        return;
    if (atomic_load(&hold->dropped)) {
        free(hold);
        return;
    }
    runtime_lock(runtime);
    runtime->held_by_program--;
    hold->ended = true;
    if (hold->queue) {
        queue_attend(hold->queue);
        queue_advance(hold->queue);
    } else {
        free(hold);
    }
    channel_wake(runtime->channel); /* who drives may sleep, and there is something to issue */
    runtime_unlock(runtime);
}
