/* queue_items.c: see queue_items.h. */
#include "host/queue_items.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "host/relay.h"

/* Items come and go with every region: the runtime keeps some. */
struct queue_item *item_create(struct omprma_queue *queue, enum queue_item_kind kind)
{
    struct runtime *runtime = queue->device->runtime;
    struct queue_item *item = runtime->spare_items;

    if (item) {
        runtime->spare_items = item->next;
        memset(item, 0, sizeof(*item));
    } else {
        item = calloc(1, sizeof(*item));
    }
    if (!item) {
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an operation of queue %u", queue->number);
        return NULL;
    }
    item->kind = kind;
    return item;
}

void item_free(struct omprma_queue *queue, struct queue_item *item)
{
    item->next = queue->device->runtime->spare_items;
    queue->device->runtime->spare_items = item;
}

void item_insert(struct omprma_queue *queue, struct queue_item *item, struct queue_item *before)
{
    item->next = before;
    item->prev = before ? before->prev : queue->last;
    if (item->prev)
        item->prev->next = item;
    else
        queue->first = item;
    if (before)
        before->prev = item;
    else
        queue->last = item;
    queue->items++;
}

void bulk_free_all(struct queue_bulk *bulk)
{
    while (bulk) {
        struct queue_bulk *next = bulk->next;

        free(bulk);
        bulk = next;
    }
}

void item_remove(struct omprma_queue *queue, struct queue_item *item)
{
    if (item->prev)
        item->prev->next = item->next;
    else
        queue->first = item->next;
    if (item->next)
        item->next->prev = item->prev;
    else
        queue->last = item->prev;
    if (queue->open == item)
        queue->open = NULL;
    queue->items--;
    if (item->kind == ITEM_SEGMENT) {
        channel_drop(queue->device->runtime->channel, item->segment.message);
        bulk_free_all(item->segment.bulk);
        if (item->segment.receiver) { /* the queue has failed */
            item->segment.receiver->held = false;
            queue_fail(item->segment.receiver, queue->failed_status, queue->failed_text);
        }
    } else if (item->kind == ITEM_TRANSFER) {
        free(item->transfer.copy);
    } else if (item->kind == ITEM_RELAY && item->relay.relay) {
        relay_end(item->relay.relay);
    }
    item_free(queue, item);
}

void segment_seal(struct omprma_queue *queue, bool result)
{
    if (!queue->open)
        return;
    queue->open->segment.sealed = true;
    queue->open->segment.wants_result |= result;
    queue->open = NULL;
}

void read_free(struct omprma_queue *queue, struct queue_read *read)
{
    read->next = queue->device->runtime->spare_reads;
    queue->device->runtime->spare_reads = read;
}
