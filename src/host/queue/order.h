/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * order.h: which operation of a queue may be issued when. See order.c for the rules.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_QUEUE_ORDER_H
#define OMPRMA_HOST_QUEUE_ORDER_H

#include "host/queue/queue.h"

/* Whether the operation, the first one of its queue that is not issued, may be issued now. If not,
 * *again: somebody must look again without being told; else the end of another operation, a result
 * or a flush brings the queue back here, which has been made sure. */
bool order_may_issue(struct operation *operation, bool *again);

/* The operation of the same queue whose end the next one to be issued waits for; NULL: none. */
struct operation *order_blocker(const struct operation *operation);

/* Whether a put or get of [at, at + bytes) on the queue's device may pass the open message. */
bool order_may_pass(const struct omprma_queue *queue, uint64_t at, uint64_t bytes);

/* Whether a command may join the open message although operations were appended after that. */
bool order_may_join(const struct omprma_queue *queue, const struct operation *command);

/* The next small submit into [at, at + bytes) of the device that was sent and is not known to be
 * executed: the last such one of a queue after that of `after` (NULL: the first). */
struct operation *order_next_write(struct device *device, uint64_t at, uint64_t bytes,
                                   const struct operation *after);

/* True if such a submit has yet to be executed: the operation waits for it, and its end is asked
 * for. The device may be lost by that, and the operation have ended. */
bool order_await_write(struct operation *operation, struct device *device, uint64_t at,
                       uint64_t bytes);

/* What stood before a small submit that was sent, and is still in its queue's list; NULL: nothing
 * that has not ended. */
const struct operation *order_before_write(const struct operation *write);

/* Makes an operation wait for the end of another: its queue is attended to then. */
void order_await(struct operation *operation, struct operation *target);

/* Whether the worker can hold another queue of its own until `target` has ended. */
bool order_worker_can_watch(const struct operation *target);

#endif
