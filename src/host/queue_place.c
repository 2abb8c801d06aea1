/* queue_place.c: places in a queue: where one lies, whether it has been passed, and making sure
 * that it will be. See queue.h. */
#include "host/queue_items.h"

struct queue_place queue_end(const struct omprma_queue *queue)
{
    return (struct queue_place){
        .queue = (struct omprma_queue *)(uintptr_t)queue,
        .op = queue->next_op,
        .fate_op = queue->hazard_op,
        .number = queue->next_number,
        .failures = queue->failures,
    };
}

void queue_note_known(struct omprma_queue *queue, uint64_t done_op)
{
    struct queue_known *known = &queue->known[queue->known_count++ % QUEUE_KNOWN];

    *known = (struct queue_known){queue->failures, done_op, queue->next_number};
    for (const struct queue_item *item = queue->first; item; item = item->next)
        if (item->kind != ITEM_SEGMENT && !item->done && item->number <= known->number)
            known->number = item->number - 1;
    for (const struct queue_bulk *bulk = queue->bulk; bulk; bulk = bulk->next)
        if (bulk->op <= known->op)
            known->op = bulk->op - 1;
}

/* The first failure after the place was taken decides. Of one that is forgotten nothing is known,
 * so it is taken for one that came before the place was passed. */
bool queue_place_failed(const struct queue_place *place)
{
    const struct omprma_queue *queue = place->queue;
    uint64_t last, first;

    if (!queue || place->failures == queue->failures)
        return false;
    last = first = queue->known_count;
    while (first > 0 && last - first < QUEUE_KNOWN &&
           queue->known[(first - 1) % QUEUE_KNOWN].failures >= place->failures)
        first--;
    if (first == last || (first > 0 && last - first == QUEUE_KNOWN))
        return true;
    return queue->known[first % QUEUE_KNOWN].op < place->fate_op ||
           queue->known[first % QUEUE_KNOWN].number < place->number;
}

/* True if something before the place that only this side sees is not complete. */
static bool locally_pending(const struct queue_place *place)
{
    for (const struct queue_item *item = place->queue->first; item; item = item->next)
        if (item->kind != ITEM_SEGMENT && !item->done && item->number <= place->number)
            return true;
    for (const struct queue_bulk *bulk = place->queue->bulk; bulk; bulk = bulk->next)
        if (place->op >= bulk->op)
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
    return queue->done_op >= place->op && !locally_pending(place);
}

/* Operations before the place may still wait in sealed segments: the last of them is to bring a
 * result when it leaves, for nobody else may ask. */
static void want_result(const struct queue_place *place)
{
    for (struct queue_item *item = place->queue->first; item; item = item->next) {
        if (item->kind == ITEM_SEGMENT && !item->issued && item->segment.last_op >= place->op) {
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
    if (queue->asked_op < place->op && queue->sent_op >= place->op)
        queue_ask(queue);
    queue_attend(queue);
}

bool queue_worker_can_watch(const struct queue_place *place)
{
    return place->queue->sent_op >= place->op && !locally_pending(place);
}

omprma_status_t queue_wait(struct omprma_queue *queue, const struct queue_place *place)
{
    struct wire_record record = {.code = WIRE_WAIT,
                                 .word = {place->queue->number, (uint32_t)place->op}};

    if (!queue_passed(place) && place->queue->open)
        queue_flush(place->queue, false); /* which may complete it */
    if (queue_passed(place) && !queue_place_failed(place))
        return OMPRMA_OK;
    if (place->queue->device == queue->device && queue_worker_can_watch(place))
        return queue_append(queue, &record, NULL);
    return queue_append_wait(queue, place);
}
