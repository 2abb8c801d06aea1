/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * event.c: events are places in queues, known by an operation that ends when all before has.
 * Recording sends nothing and mostly appends nothing, because OpenMP runtimes record an event for
 * every mapped variable and rarely wait for one. Who waits makes sure that the place will be
 * reached. Public functions of omprma.h.
 */
#include <stdlib.h>

#include "base/error.h"
#include "host/calls/call.h"
#include "host/queue/append.h"
#include "host/queue/incoming.h"
#include "host/queue/issue.h"
#include "host/check/redzones.h"

struct omprma_event {
    struct operation *mark; /* reference, see queue_mark(); NULL: complete without error */
};

omprma_status_t omprma_event_create(omprma_event_t **event)
{
    struct runtime *runtime;
    omprma_status_t status = runtime_require(&runtime);

    if (status != OMPRMA_OK)
        return status;
    if (!event)
        return error_set(OMPRMA_ERR_ARGUMENT, "event is NULL");
    *event = calloc(1, sizeof(**event));
    if (!*event)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an event");
    return OMPRMA_OK;
}

void omprma_event_destroy(omprma_event_t *event)
{
    struct runtime *runtime = runtime_get();

    if (event && event->mark && runtime) {
        runtime_lock(runtime);
        operation_drop(&runtime->operations, event->mark);
        runtime_unlock(runtime);
    }
    free(event);
}

omprma_status_t omprma_event_record(omprma_event_t *event, omprma_queue_t *queue)
{
    struct operation *mark = NULL;
    struct runtime *runtime;
    omprma_status_t status;

    if (!event || !queue)
        return error_set(OMPRMA_ERR_ARGUMENT, "event record: %s is NULL",
                         event ? "queue" : "event");
    status = runtime_require(&runtime);
    if (status != OMPRMA_OK)
        return status;
    runtime_lock(runtime);
    status = queue_mark(queue, &mark);
    if (status == OMPRMA_OK) {
        operation_drop(&runtime->operations, event->mark);
        event->mark = mark;
    }
    return call_end(queue, status);
}

omprma_status_t omprma_event_wait(omprma_event_t *event, omprma_queue_t *queue)
{
    omprma_status_t status;

    if (!event)
        return error_set(OMPRMA_ERR_ARGUMENT, "event wait: event is NULL");
    status = call_begin(queue);
    if (status != OMPRMA_OK)
        return status;
    if (!event->mark || (event->mark->queue == queue && !operation_has_ended(event->mark)))
        return call_end(queue, OMPRMA_OK);
    status = queue_wait(queue, event->mark, WAIT_EVENT);
    if (status == OMPRMA_OK && operation_has_ended(event->mark) && event->mark->failure) {
        queue_flush(queue); /* when it has come there, it fails too */
        status = call_check_queue(queue);
    }
    return call_end(queue, status);
}

/* The event's mark as it is now, for a caller that lets go of the lock: recording again does not
 * move this wait. NULL: complete. */
static struct operation *hold_mark(const omprma_event_t *event)
{
    return event->mark ? operation_hold(event->mark) : NULL;
}

omprma_status_t omprma_event_query(omprma_event_t *event, bool *done)
{
    struct operation *mark;
    struct runtime *runtime;
    omprma_status_t status;

    if (!event || !done)
        return error_set(OMPRMA_ERR_ARGUMENT, "event query: %s is NULL", event ? "done" : "event");
    status = runtime_require(&runtime);
    if (status != OMPRMA_OK)
        return status;
    runtime_lock(runtime);
    mark = hold_mark(event);
    if (mark)
        queue_push(mark);
    if (!runtime->driven)
        incoming_query(runtime);
    *done = !mark || operation_has_ended(mark);
    operation_drop(&runtime->operations, mark);
    runtime_unlock(runtime);
    return OMPRMA_OK;
}

omprma_status_t omprma_event_synchronize(omprma_event_t *event)
{
    struct operation *mark;
    struct runtime *runtime;
    omprma_status_t status = runtime_require(&runtime);

    if (status != OMPRMA_OK)
        return status;
    if (!event)
        return error_set(OMPRMA_ERR_ARGUMENT, "event synchronize: event is NULL");
    runtime_lock(runtime);
    mark = hold_mark(event);
    if (mark && !operation_has_ended(mark))
        queue_settle_operation(mark);
    if (mark && mark->failure && mark->failure->status == OMPRMA_ERR_KERNEL &&
        mark->queue->device->check)
        redzones_crashed(mark->queue->device);
    if (mark && mark->failure)
        status = failure_report(mark->failure);
    operation_drop(&runtime->operations, mark);
    runtime_unlock(runtime);
    return status;
}
