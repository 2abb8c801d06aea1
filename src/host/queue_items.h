/*
 * queue_items.h: the list of items of a queue, shared by queue.c, queue_append.c, queue_advance.c,
 * queue_exchanges.c and queue_place.c; nobody else looks inside a queue. See queue.h.
 *
 * Thread: see runtime.h.
 */
#ifndef OMPRMA_HOST_QUEUE_ITEMS_H
#define OMPRMA_HOST_QUEUE_ITEMS_H

#include "host/queue.h"

/* Whether a marked segment is under way whose result has not come. */
static inline bool queue_marked(const struct omprma_queue *queue)
{
    return queue->mark > queue->executed;
}

/* Whether [a, a + a_bytes) and [b, b + b_bytes) overlap. */
static inline bool ranges_meet(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* A new item that is in no list. Errors: NULL (HOST_MEMORY). */
struct queue_item *item_create(struct omprma_queue *queue, enum queue_item_kind kind);

/* Gives an item back that is in no list. */
void item_free(struct omprma_queue *queue, struct queue_item *item);

/* Puts an item before another; at the end for NULL. */
void item_insert(struct omprma_queue *queue, struct queue_item *item, struct queue_item *before);

/* Takes an item out, and frees it with all that belongs to it. */
void item_remove(struct omprma_queue *queue, struct queue_item *item);

/* Closes the open segment, if there is one; asks for a result if `result`. */
void segment_seal(struct omprma_queue *queue, bool result);

/* Frees a list of two-sided transfers that are not under way. */
void bulk_free_all(struct queue_bulk *bulk);

/* Gives a retrieve's record back. */
void read_free(struct omprma_queue *queue, struct queue_read *read);

/* Forgets exchanges that are known to be complete; that will not be sent. */
void exchanges_forget_done(struct omprma_queue *queue);
void exchanges_forget_unsent(struct omprma_queue *queue);

/* Notes that `op` and all before it are executed. */
void queue_note_executed(struct omprma_queue *queue, uint64_t op);

/* Makes the worker forget a failure, so that the next user of the queue starts clean. */
void queue_reset_remote(struct omprma_queue *queue);

#endif
