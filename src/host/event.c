/*
 * event.c: events are places in queues. Recording notes where a queue ends and sends nothing,
 * because OpenMP runtimes record an event for every mapped variable and rarely wait for one. Who
 * waits makes sure that the place will be passed. Public functions of omprma.h.
 */
#include <stdlib.h>

#include "base/error.h"
#include "host/device.h"
#include "host/operation.h"
#include "host/queue.h"

struct omprma_event {
    struct queue_place place;
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
    free(event);
}

omprma_status_t omprma_event_record(omprma_event_t *event, omprma_queue_t *queue)
{
    if (!event || !queue)
        return error_set(OMPRMA_ERR_ARGUMENT, "event record: %s is NULL",
                         event ? "queue" : "event");
    runtime_lock(queue->device->runtime);
    event->place = queue_end(queue);
    return operation_end(queue, OMPRMA_OK);
}

omprma_status_t omprma_event_wait(omprma_event_t *event, omprma_queue_t *queue)
{
    struct queue_place *place;
    omprma_status_t status;

    if (!event)
        return error_set(OMPRMA_ERR_ARGUMENT, "event wait: event is NULL");
    status = operation_begin(queue);
    if (status != OMPRMA_OK)
        return status;
    place = &event->place;
    if (!place->queue || place->queue == queue || queue_passed(place)) {
        if (place->queue && place->queue != queue && queue_place_failed(place))
            status = error_set(place->queue->failed_status,
                               "event wait: the event's queue "
                               "failed: %s",
                               place->queue->failed_text);
        return operation_end(queue, status);
    }
    return operation_end(queue, queue_wait(queue, place));
}

omprma_status_t omprma_event_query(omprma_event_t *event, bool *done)
{
    struct runtime *runtime;
    omprma_status_t status;

    if (!event || !done)
        return error_set(OMPRMA_ERR_ARGUMENT, "event query: %s is NULL", event ? "done" : "event");
    status = runtime_require(&runtime);
    if (status != OMPRMA_OK)
        return status;
    runtime_lock(runtime);
    queue_push(&event->place);
    if (!runtime->driven)
        progress_look(runtime);
    *done = queue_passed(&event->place);
    runtime_unlock(runtime);
    return OMPRMA_OK;
}

static bool passed_predicate(const void *data)
{
    return queue_passed(data);
}

omprma_status_t omprma_event_synchronize(omprma_event_t *event)
{
    struct queue_place place;
    struct runtime *runtime;
    omprma_status_t status = runtime_require(&runtime);

    if (status != OMPRMA_OK)
        return status;
    if (!event)
        return error_set(OMPRMA_ERR_ARGUMENT, "event synchronize: event is NULL");
    runtime_lock(runtime);
    place = event->place; /* recording again does not move this wait */
    if (!queue_passed(&place)) {
        queue_push(&place);
        place.queue->waiters++;
        progress_wait(runtime, passed_predicate, &place);
        place.queue->waiters--;
    }
    if (queue_place_failed(&place))
        status = error_set(place.queue->failed_status, "%s", place.queue->failed_text);
    runtime_unlock(runtime);
    return status;
}
