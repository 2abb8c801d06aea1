/*
 * helper.h: queues of ours that do a part of the work of another queue.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_HELPER_H
#define OMPRMA_HOST_HELPER_H

#include "host/queue.h"

/* Takes a queue of a device for a part of the work of another, to be given back by
 * helper_let_go(). It waits for all that `after` (NULL allowed) holds now. Errors: HOST_MEMORY.
 */
omprma_status_t helper_open(struct device *device, struct omprma_queue *after,
                            struct omprma_queue **helper);

/* Lets the helper run; it goes back to its device by itself. If `status` is an error, nothing of it
 * runs. Returns `status`. */
omprma_status_t helper_let_go(struct omprma_queue *helper, omprma_status_t status);

#endif
