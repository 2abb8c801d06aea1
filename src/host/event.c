/*
 * event.c: places in queues. Recording notes where a queue ends and sends nothing, because OpenMP
 * runtimes record an event for every mapped variable and rarely wait for one. Who waits makes sure
 * that the place will be passed. Public functions of omprma.h.
 */
#include <stdlib.h>

#include "base/error.h"
#include "host/device.h"
#include "host/operation.h"
#include "host/queue.h"

struct omprma_event {
    struct queue_place place;
};

struct queue_place queue_end(const struct omprma_queue *queue)
{
    return (struct queue_place){
        .queue = (struct omprma_queue *)(uintptr_t)queue,
        .op = queue->next_op,
        .number = queue->next_number,
        .failures = queue->failures,
    };
}

struct queue_place queue_known(const struct omprma_queue *queue)
{
    struct queue_place place = queue_end(queue);

    place.op = queue->done_op;
    for (const struct queue_item *item = queue->first; item; item = item->next)
        if (item->kind != ITEM_SEGMENT && !item->done && item->number <= place.number)
            place.number = item->number - 1;
    for (const struct queue_bulk *bulk = queue->bulk; bulk; bulk = bulk->next)
        if ((int32_t)(bulk->op - place.op) <= 0)
            place.op = bulk->op - 1;
    return place;
}

bool queue_place_failed(const struct queue_place *place)
{
    const struct omprma_queue *queue = place->queue;

    if (!queue || place->failures == queue->failures)
        return false;
    return place->failures != queue->failed_after.failures ||
           (int32_t)(queue->failed_after.op - place->op) < 0 ||
           queue->failed_after.number < place->number;
}

/* True if something before the place that only this side sees is not complete. */
static bool locally_pending(const struct queue_place *place)
{
    for (const struct queue_item *item = place->queue->first; item; item = item->next)
        if (item->kind != ITEM_SEGMENT && !item->done &&
            (int64_t)(item->number - place->number) <= 0)
            return true;
    for (const struct queue_bulk *bulk = place->queue->bulk; bulk; bulk = bulk->next)
        if ((int32_t)(bulk->op - place->op) <= 0)
            return true;
    return false;
}

bool queue_passed(const struct queue_place *place)
{
    const struct omprma_queue *queue = place->queue;

    if (!queue)
        return true;
    if (queue->failures != place->failures) /* it failed since: nothing more will come */
        return true;
    if (queue->device->lost)
        return true;
    return (int32_t)(queue->done_op - place->op) >= 0 && !locally_pending(place);
}

/* Operations before the place may still wait in sealed segments: the last of them is to bring a
 * result when it leaves, for nobody else may ask. */
static void want_result(const struct queue_place *place)
{
    for (struct queue_item *item = place->queue->first; item; item = item->next) {
        if (item->kind == ITEM_SEGMENT && !item->issued &&
            (int32_t)(item->segment.last_op - place->op) >= 0) {
            item->segment.wants_result = true;
            return;
        }
    }
}

void queue_push(const struct queue_place *place)
{
    struct omprma_queue *queue = place->queue;

    if (!queue || queue_passed(place))
        return;
    if (queue->open)
        queue_flush(queue, true);
    want_result(place);
    if ((int32_t)(queue->asked_op - place->op) < 0 && (int32_t)(queue->sent_op - place->op) >= 0)
        queue_ask(queue);
    queue_attend(queue);
}

bool queue_worker_can_watch(const struct queue_place *place)
{
    return (int32_t)(place->queue->sent_op - place->op) >= 0 && !locally_pending(place);
}

omprma_status_t queue_wait(struct omprma_queue *queue, const struct queue_place *place)
{
    struct wire_record record = {.code = WIRE_WAIT, .word = {place->queue->number, place->op}};

    if (queue_passed(place) && !queue_place_failed(place))
        return OMPRMA_OK;
    if (place->queue->open)
        queue_flush(place->queue, false);
    if (place->queue->device == queue->device && queue_worker_can_watch(place))
        return queue_append(queue, &record, NULL);
    return queue_append_wait(queue, place);
}

/* ---- public functions ---- */

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
        progress_once(runtime);
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
