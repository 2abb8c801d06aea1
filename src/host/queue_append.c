/* queue_append.c: what users' operations add to a queue: records to the open segment, transfers,
 * and waits. Decides what may go before what. See queue.h. */
#include <stdlib.h>

#include "base/error.h"
#include "host/queue_items.h"

static struct queue_item *segment_open(struct omprma_queue *queue)
{
    struct queue_item *item = item_create(queue, ITEM_SEGMENT);

    if (!item)
        return NULL;
    item->segment.message = channel_take(queue->device->runtime->channel);
    if (!item->segment.message) {
        item_free(queue, item);
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a control message");
        return NULL;
    }
    item->segment.only_writes = true;
    item_insert(queue, item, NULL);
    queue->open = item;
    return item;
}

/* A segment with later items can be joined only by reads, and only if those items only read. */
static bool may_join(const struct omprma_queue *queue, unsigned code)
{
    const struct queue_item *item = queue->open;

    if (!item)
        return false;
    for (item = item->next; item; item = item->next)
        if (code != WIRE_READ || item->kind != ITEM_TRANSFER ||
            item->transfer.transfer.direction != TRANSFER_IN)
            return false;
    return true;
}

/* Notes in the segment, and in the queue, the record that was appended last and what it means for
 * others' order. */
static void segment_note(struct omprma_queue *queue, struct queue_item *item,
                         const struct wire_record *record)
{
    item->segment.last_op = ++queue->next_op;
    if (record->flags & WIRE_REPLY)
        item->segment.wants_result = true;
    /* A write that asks for a result may fail: it goes outside arenas. */
    if (record->code == WIRE_WRITE && !(record->flags & WIRE_REPLY)) {
        device_remember_write(queue, record->word[0], record->tail_bytes, queue->next_op);
        return;
    }
    item->segment.only_writes = false;
    queue->hazard_op = queue->next_op;
}

omprma_status_t queue_append(struct omprma_queue *queue, struct wire_record *record, void **tail)
{
    struct queue_item *item;
    void *at = NULL;

    record->queue = queue->number;
    record->op = (uint32_t)(queue->next_op + 1);
    if (record->code == WIRE_WRITE &&
        !writes_reserve(&queue->writes, queue->done_op, queue->sent_op))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a submit");
    for (int attempt = 0; attempt < 2 && !at; attempt++) {
        struct wire_buffer buffer;

        if (queue->open && !may_join(queue, record->code))
            segment_seal(queue, false);
        item = queue->open ? queue->open : segment_open(queue);
        if (!item)
            return OMPRMA_ERR_HOST_MEMORY;
        buffer = channel_buffer(item->segment.message);
        at = wire_append(&buffer, record);
        if (at) {
            item->segment.last_record = item->segment.message->bytes;
            item->segment.message->bytes = buffer.used;
        } else {
            segment_seal(queue, false); /* full */
        }
    }
    if (!at)
        return error_set(OMPRMA_ERR_ARGUMENT, "a record of %u bytes does not fit in a message",
                         record->tail_bytes);
    segment_note(queue, item, record);
    if (tail)
        *tail = at;
    if (queue->first != queue->open || queue->waiters) /* a segment may be ready to leave */
        queue_attend(queue);
    return OMPRMA_OK;
}

omprma_status_t queue_append_read(struct omprma_queue *queue, struct wire_record *record, void *to,
                                  uint32_t bytes)
{
    struct runtime *runtime = queue->device->runtime;
    struct queue_read *read = runtime->spare_reads;
    omprma_status_t status;

    if (read)
        runtime->spare_reads = read->next;
    else
        read = malloc(sizeof(*read));
    if (!read)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a retrieve");
    status = queue_append(queue, record, NULL);
    if (status != OMPRMA_OK) {
        read_free(queue, read);
        return status;
    }
    *read = (struct queue_read){.to = to, .bytes = bytes, .op = queue->next_op};
    if (queue->reads_last)
        queue->reads_last->next = read;
    else
        queue->reads_first = read;
    queue->reads_last = read;
    return OMPRMA_OK;
}

omprma_status_t queue_append_bulk(struct omprma_queue *queue, struct wire_record *record,
                                  const struct transfer *transfer, enum stats_kind kind)
{
    struct queue_bulk *bulk = calloc(1, sizeof(*bulk)), **link;
    omprma_status_t status;

    if (!bulk)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a transfer");
    status = queue_append(queue, record, NULL);
    if (status != OMPRMA_OK) {
        free(bulk);
        return status;
    }
    bulk->transfer = *transfer;
    bulk->kind = kind;
    bulk->op = queue->open->segment.last_op;
    link = &queue->open->segment.bulk;
    while (*link) /* started in order */
        link = &(*link)->next;
    *link = bulk;
    return OMPRMA_OK;
}

omprma_status_t queue_append_wait(struct omprma_queue *queue, const struct queue_place *place)
{
    struct queue_item *item = item_create(queue, ITEM_WAIT);

    if (!item)
        return OMPRMA_ERR_HOST_MEMORY;
    segment_seal(queue, false);
    item->wait = *place;
    item->number = ++queue->next_number;
    item_insert(queue, item, NULL);
    queue_attend(queue);
    return OMPRMA_OK;
}

/* Its source must hold what all operations before it leave there, small submits included. */
omprma_status_t queue_append_relay(struct omprma_queue *queue, struct relay *relay)
{
    struct queue_item *item = item_create(queue, ITEM_RELAY);

    if (!item)
        return OMPRMA_ERR_HOST_MEMORY;
    segment_seal(queue, true);
    item->relay.relay = relay;
    item->relay.after_op = queue->next_op;
    item->number = ++queue->next_number;
    item_insert(queue, item, NULL);
    queue_attend(queue);
    return OMPRMA_OK;
}

omprma_status_t queue_append_transfer(struct omprma_queue *queue, const struct transfer *transfer,
                                      uint64_t *number)
{
    struct queue_item *item = item_create(queue, ITEM_TRANSFER), *open = queue->open,
                      *before = NULL;

    if (!item)
        return OMPRMA_ERR_HOST_MEMORY;
    item->transfer.transfer = *transfer;
    item->number = ++queue->next_number;
    item->transfer.after_op = queue->hazard_op;
    if (open && open == queue->last && open->segment.only_writes &&
        !writes_meet(&queue->writes, transfer->remote, transfer->remote + transfer->bytes,
                     queue->sent_op, queue->next_op)) {
        before = open;
    } else if (open) {
        /* It must see what the segment does, so the segment's result is wanted. */
        item->transfer.after_op = queue->next_op;
        open->segment.wants_result = true;
        if (transfer->direction == TRANSFER_OUT)
            segment_seal(queue, true);
    }
    item_insert(queue, item, before);
    *number = item->number;
    queue_attend(queue);
    return OMPRMA_OK;
}

struct queue_item *queue_find_transfer(struct omprma_queue *queue, uint64_t number)
{
    for (struct queue_item *item = queue->last; item; item = item->prev)
        if (item->kind == ITEM_TRANSFER && item->number == number)
            return item->done ? NULL : item;
    return NULL;
}
