/* queue.c: a queue as a whole: results, failure, asking and waiting. See queue.h. */
#include "host/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "host/queue_items.h"
#include "host/relay.h"

void queue_reset_remote(struct omprma_queue *queue)
{
    struct wire_record record = {.code = WIRE_RESET};

    queue->remote_failed = false;
    if (queue->device->lost)
        return;
    if (queue_append(queue, &record, NULL) == OMPRMA_OK)
        queue_flush(queue, false);
}

void queue_attend(struct omprma_queue *queue)
{
    struct runtime *runtime = queue->device->runtime;

    if (queue->busy)
        return;
    queue->busy = true;
    queue->next_busy = NULL;
    if (runtime->busy_last)
        runtime->busy_last->next_busy = queue;
    else
        runtime->busy_first = queue;
    runtime->busy_last = queue;
    runtime->busy_count++;
}

void queue_flush(struct omprma_queue *queue, bool result)
{
    segment_seal(queue, result);
    queue_advance(queue);
}

/* A fence outside the order of the items: it takes the number of the operation that was sent last,
 * whose completion it reports. */
void queue_ask(struct omprma_queue *queue)
{
    struct wire_record record = {
        .code = WIRE_FENCE,
        .flags = WIRE_REPLY,
        .queue = queue->number,
        .op = (uint32_t)queue->sent_op,
    };
    omprma_status_t status;

    if (queue->asked_op >= queue->sent_op)
        return;
    status = device_send_record(queue->device, &record, false);
    if (status == OMPRMA_ERR_HOST_MEMORY)
        return; /* asked again at the next turn */
    queue->asked_op = queue->sent_op;
    if (status != OMPRMA_OK)
        queue_fail(queue, OMPRMA_ERR_MPI, error_text());
}

/* The number of an operation by its lower half: the one nearest to what is known to be done. */
static uint64_t whole_op(const struct omprma_queue *queue, uint32_t op)
{
    return queue->done_op + (uint64_t)(int64_t)(int32_t)(op - (uint32_t)queue->done_op);
}

void queue_note_executed(struct omprma_queue *queue, uint64_t op)
{
    if (op > queue->done_op)
        queue->done_op = op;
    exchanges_forget_done(queue);
    if (queue->done_op == queue->sent_op)
        queue->executed = queue->sent;
    else if (queue_marked(queue) && queue->done_op >= queue->mark_op)
        queue->executed = queue->mark;
}

void queue_result(struct omprma_queue *queue, const struct wire_record *record)
{
    uint64_t op = whole_op(queue, record->op);
    struct queue_read *read;

    if (op > queue->sent_op) {
        device_lose(queue->device, "%s, queue %u: a result for operation %u, which was not sent",
                    device_name(queue->device), queue->number, record->op);
        return;
    }
    while ((read = queue->reads_first) != NULL && op >= read->op) {
        if (record->code == WIRE_DONE && read->op == op && record->tail_bytes == read->bytes)
            memcpy(read->to, record->tail, read->bytes);
        else if (record->code == WIRE_DONE && read->op == op)
            queue_fail(queue, OMPRMA_ERR_PROTOCOL, "a retrieve came back with another size");
        queue->reads_first = read->next;
        if (!queue->reads_first)
            queue->reads_last = NULL;
        read_free(queue, read);
    }
    if (record->code == WIRE_DONE) {
        queue->value = record->word[0];
        if (queue->tail && record->tail_bytes <= queue->tail_capacity)
            memcpy(queue->tail, record->tail, record->tail_bytes);
    }
    if (record->code == WIRE_FAILED) { /* before done_op says that even this one is complete */
        char text[512];

        snprintf(text, sizeof(text), "%s, queue %u: %.*s", device_name(queue->device),
                 queue->number, (int)record->tail_bytes, (const char *)record->tail);
        queue->remote_failed = true;
        if (record->flags & WIRE_CRASHED)
            device_note_crash(queue->device, text);
        if (record->flags & WIRE_CRASHED && record->word[0] == OMPRMA_ERR_DEVICE_LOST)
            queue_fail_lost(queue, text);
        else
            queue_fail_op(queue, whole_op(queue, (uint32_t)record->word[1]),
                          (omprma_status_t)record->word[0], text);
    }
    queue_note_executed(queue, op);
    if (queue->waiters)
        progress_signal(queue->device->runtime);
    queue_advance(queue);
}

/* Forgets retrieves whose records were never sent; they are the last in the list. */
static void drop_unsent_reads(struct omprma_queue *queue)
{
    struct queue_read **link = &queue->reads_first, *last = NULL;

    while (*link && queue->sent_op >= (*link)->op) {
        last = *link;
        link = &last->next;
    }
    while (*link) {
        struct queue_read *read = *link;

        *link = read->next;
        read_free(queue, read);
    }
    queue->reads_last = last;
}

/* What was not issued will not be; what is under way must end before its memory may be reused. */
void queue_fail(struct omprma_queue *queue, omprma_status_t status, const char *text)
{
    struct queue_item *item, *next;

    if (queue->failed == OMPRMA_OK) {
        queue_note_known(queue, queue->done_op);
        queue->failed = queue->failed_status = status;
        snprintf(queue->failed_text, sizeof(queue->failed_text), "%s", text);
    }
    queue->failures++;
    for (item = queue->first; item; item = next) {
        next = item->next;
        if (!item->issued)
            item_remove(queue, item);
    }
    drop_unsent_reads(queue);
    queue->next_op = queue->sent_op;
    exchanges_forget_unsent(queue);
    writes_forget(&queue->writes, queue->sent_op);
    if (queue->sent_op < queue->hazard_op)
        queue->hazard_op = queue->sent_op;
    queue_attend(queue);
    progress_signal(queue->device->runtime);
}

/* Touches no other queue: those may be gone. */
void queue_free(struct omprma_queue *queue)
{
    while (queue->first) {
        if (queue->first->kind == ITEM_SEGMENT)
            queue->first->segment.receiver = NULL;
        if (queue->first->kind == ITEM_RELAY) {
            relay_free(queue->first->relay.relay);
            queue->first->relay.relay = NULL;
        }
        item_remove(queue, queue->first);
    }
    while (queue->reads_first) {
        struct queue_read *read = queue->reads_first;

        queue->reads_first = read->next;
        free(read);
    }
    bulk_free_all(queue->bulk);
    queue->sent_op = 0;
    exchanges_forget_unsent(queue); /* all */
    writes_free(&queue->writes);
    free(queue);
}

bool queue_idle(const struct omprma_queue *queue)
{
    if (queue->device->lost && queue->device->runtime->unresponsive)
        return true;
    /* The result of a marked segment is not waited for, unless it will bring the failure again. */
    return !queue->first && !queue->bulk && queue->done_op >= queue->asked_op &&
           queue->done_op >= queue->hazard_op &&
           (queue->failed == OMPRMA_OK || !queue_marked(queue));
}

/* True if a two-sided transfer of the list uses [begin, begin + bytes) of the host: one that fills
 * it, or, `fill`, any. */
static bool bulk_uses(const struct queue_bulk *bulk, uint64_t begin, uint64_t bytes, bool fill)
{
    for (; bulk; bulk = bulk->next)
        if ((fill || bulk->transfer.direction == TRANSFER_IN) &&
            ranges_meet(begin, bytes, (uint64_t)(uintptr_t)bulk->transfer.local,
                        bulk->transfer.bytes))
            return true;
    return false;
}

bool queue_uses(const struct omprma_queue *queue, const void *host, uint64_t bytes, bool fill)
{
    uint64_t begin = (uint64_t)(uintptr_t)host;

    for (const struct queue_read *read = queue->reads_first; read; read = read->next)
        if (ranges_meet(begin, bytes, (uint64_t)(uintptr_t)read->to, read->bytes))
            return true;
    if (bulk_uses(queue->bulk, begin, bytes, fill))
        return true;
    for (const struct queue_item *item = queue->first; item; item = item->next) {
        if (item->kind == ITEM_TRANSFER && !item->done &&
            item->transfer.transfer.direction == TRANSFER_IN &&
            ranges_meet(begin, bytes, (uint64_t)(uintptr_t)item->transfer.transfer.local,
                        item->transfer.transfer.bytes))
            return true;
        if (item->kind == ITEM_SEGMENT && bulk_uses(item->segment.bulk, begin, bytes, fill))
            return true;
    }
    return false;
}

static bool idle_predicate(const void *data)
{
    const struct omprma_queue *queue = data;

    return queue_idle(queue);
}

void queue_settle(struct omprma_queue *queue)
{
    /* A segment of nothing but small submits needs no answer: whatever is sent later to the same
     * worker comes after it, and one-sided transfers look at device_next_write(). */
    bool result = queue->open && !queue->open->segment.only_writes;

    queue->waiters++;
    queue_flush(queue, result);
    if (!queue_idle(queue))
        progress_wait(queue->device->runtime, idle_predicate, queue);
    queue->waiters--;
}

static bool room_predicate(const void *data)
{
    const struct omprma_queue *queue = data;

    return queue->items < QUEUE_ITEMS_MOST || queue->failed != OMPRMA_OK || queue->device->lost;
}

/* What is appended can come to its end without the thread that waits here: nothing stays open. */
void queue_make_room(struct omprma_queue *queue)
{
    queue->waiters++;
    queue_flush(queue, false);
    progress_wait(queue->device->runtime, room_predicate, queue);
    queue->waiters--;
}

omprma_status_t queue_synchronize(struct omprma_queue *queue)
{
    omprma_status_t status;

    queue_settle(queue);
    status = queue->failed;
    if (status == OMPRMA_OK)
        return OMPRMA_OK;
    error_set(status, "%s", queue->failed_text);
    queue->failed = OMPRMA_OK;
    if (queue->remote_failed)
        queue_reset_remote(queue);
    return status;
}
