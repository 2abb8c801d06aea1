/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * subqueue.h: queues of ours that do a part of the work of another queue.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_QUEUE_SUBQUEUE_H
#define OMPRMA_HOST_QUEUE_SUBQUEUE_H

#include "host/queue/queue.h"

/* Takes a queue of a device for a part of the work of another, to be given back by
 * subqueue_let_go(). It waits for all that `after` (NULL allowed) holds now. Errors: HOST_MEMORY.
 */
omprma_status_t subqueue_open(struct device *device, struct omprma_queue *after,
                              struct omprma_queue **subqueue);

/* Lets the subqueue run; it goes back to its device by itself. If `status` is an error, nothing of
 * it runs. Returns `status`. */
omprma_status_t subqueue_let_go(struct omprma_queue *subqueue, omprma_status_t status);

#endif
