/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * issue.h: a queue goes on: operations are issued, results come in, somebody waits.
 *
 * Thread: with runtime->lock held. Blocks: what waits says so; no other.
 */
#ifndef OMPRMA_HOST_QUEUE_ISSUE_H
#define OMPRMA_HOST_QUEUE_ISSUE_H

#include "host/queue/queue.h"

/* Issues and tests what can be. True if anything moved. */
bool queue_advance(struct omprma_queue *queue);

/* Closes the open message and issues what can be issued. */
void queue_flush(struct omprma_queue *queue);

/* The same before somebody waits: the worker is asked to say when all that matters is done. */
void queue_send_wanted(struct omprma_queue *queue);

/* Makes sure that an operation will end without anybody's further doing. */
void queue_push(struct operation *operation);

/* A result for one of its commands came in. */
void queue_result(struct omprma_queue *queue, const struct wire_record *record);

/* The worker tells when it ran one of its commands; only while recording, see trace.h. */
void queue_span(struct omprma_queue *queue, const struct wire_record *record);

/* Waits until there is room for another operation, or the queue has failed. */
void queue_make_room(struct omprma_queue *queue);

/* Clears the queue's error, also on the worker. */
void queue_clear(struct omprma_queue *queue);

/* Flushes and waits until it is idle; the queue's error stays. */
void queue_settle(struct omprma_queue *queue);

/* Waits until an operation has ended, well or not. The caller holds a reference. */
void queue_settle_operation(struct operation *operation);

/* Flushes and waits. Returns and clears the queue's error. */
omprma_status_t queue_synchronize(struct omprma_queue *queue);

/* The same right after queue_send_wanted(), where no observer needs to see the wait. */
omprma_status_t queue_synchronize_sent(struct omprma_queue *queue);

/* Has the queue wait for an operation, which the worker watches where it can: nobody comes back to
 * this side then. Nothing for NULL and what has ended well. Errors: HOST_MEMORY. */
omprma_status_t queue_wait(struct omprma_queue *queue, struct operation *target, enum wait_use use);

/* Has the queue wait for all that another one holds now, as a part of the same thing: it fails as
 * that does. Errors: HOST_MEMORY. */
omprma_status_t queue_follow(struct omprma_queue *queue, struct omprma_queue *other);

/* Appends a mark that hands the completion over when it ends; it needs no further push. The
 * completion passes to the queue. Errors: HOST_MEMORY (it does not). */
omprma_status_t queue_notify(struct omprma_queue *queue, struct completion *completion);

#endif
