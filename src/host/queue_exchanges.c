/* queue_exchanges.c: which operations of a queue are exchanges, and with which device, as long as
 * they are not known to be complete, so that an error can name both devices. See queue.h. */
#include <stdio.h>
#include <stdlib.h>

#include "host/queue_items.h"
#include "host/relay.h"

/* Operations first to last exchange with the same device. */
struct queue_exchange {
    struct queue_exchange *next;
    uint64_t first, last;
    struct device *with;
};

void queue_note_exchange(struct omprma_queue *queue, struct device *with)
{
    struct queue_exchange *last = queue->exchanges_last, *exchange;

    if (last && last->with == with && last->last + 1 == queue->next_op) {
        last->last++;
        return;
    }
    exchange = malloc(sizeof(*exchange));
    if (!exchange)
        return; /* its error would name one device only */
    *exchange = (struct queue_exchange){NULL, queue->next_op, queue->next_op, with};
    if (last)
        last->next = exchange;
    else
        queue->exchanges = exchange;
    queue->exchanges_last = exchange;
}

void exchanges_forget_done(struct omprma_queue *queue)
{
    struct queue_exchange *exchange;

    while ((exchange = queue->exchanges) != NULL && exchange->last <= queue->done_op) {
        queue->exchanges = exchange->next;
        free(exchange);
    }
    if (!queue->exchanges)
        queue->exchanges_last = NULL;
}

void exchanges_forget_unsent(struct omprma_queue *queue)
{
    struct queue_exchange **link = &queue->exchanges;

    queue->exchanges_last = NULL;
    while (*link) {
        struct queue_exchange *exchange = *link;

        if (exchange->first > queue->sent_op) {
            *link = exchange->next;
            free(exchange);
            continue;
        }
        if (exchange->last > queue->sent_op)
            exchange->last = queue->sent_op;
        queue->exchanges_last = exchange;
        link = &exchange->next;
    }
    exchanges_forget_done(queue);
}

/* The device that operation `op` exchanges with, or NULL. */
static const struct device *partner_of(const struct omprma_queue *queue, uint64_t op)
{
    const struct queue_exchange *exchange = queue->exchanges;

    while (exchange && exchange->last < op)
        exchange = exchange->next;
    return exchange && exchange->first <= op ? exchange->with : NULL;
}

/* The device that some exchange is with which is not complete, or NULL. */
static const struct device *any_partner(const struct omprma_queue *queue)
{
    if (queue->exchanges)
        return queue->exchanges->with;
    for (const struct queue_item *item = queue->first; item; item = item->next) {
        if (item->kind == ITEM_RELAY)
            return relay_target(item->relay.relay);
        if (item->kind == ITEM_WAIT && !item->done && item->wait.use == PLACE_EXCHANGE)
            return item->wait.queue->device;
    }
    return NULL;
}

void queue_keep_memory(struct omprma_queue *queue, const struct device *lost)
{
    for (struct queue_exchange *exchange = queue->exchanges; exchange; exchange = exchange->next) {
        if (exchange->with == lost)
            queue->device->keeps_memory = true;
        else if (queue->device == lost)
            exchange->with->keeps_memory = true;
    }
}

static void fail(struct omprma_queue *queue, const struct device *with, omprma_status_t status,
                 const char *text)
{
    char named[700];

    if (!with) {
        queue_fail(queue, status, text);
        return;
    }
    snprintf(named, sizeof(named), "exchange from device %d to device %d: %s",
             queue->device->number, with->number, text);
    queue_fail(queue, status, named);
}

void queue_fail_op(struct omprma_queue *queue, uint64_t op, omprma_status_t status,
                   const char *text)
{
    const struct device *with = partner_of(queue, op);

    /* The worker does one after the other: what it did before is complete. */
    if (op > queue->done_op + 1 && queue->failed == OMPRMA_OK)
        queue_note_executed(queue, op - 1);
    fail(queue, with, status, text);
}

void queue_fail_lost(struct omprma_queue *queue, const char *text)
{
    fail(queue, any_partner(queue), OMPRMA_ERR_DEVICE_LOST, text);
}
