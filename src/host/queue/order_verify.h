/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * order_verify.h: looks whether a queue keeps the invariant of order.c: whoever holds something
 * back has asked for what lets it go. Only where internal checks are on; in other builds there is
 * nothing of it.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_QUEUE_ORDER_VERIFY_H
#define OMPRMA_HOST_QUEUE_ORDER_VERIFY_H

#include "host/queue/queue.h"

#ifdef NDEBUG
static inline void order_verify(const struct omprma_queue *queue)
{
    (void)queue;
}
#else
/* After a step of the queue: what it could issue has been issued. */
void order_verify(const struct omprma_queue *queue);
#endif

#endif
