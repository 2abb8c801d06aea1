/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * call.h: what the public calls on queues have in common: taking the lock, refusing a queue that
 * has failed, waiting for room, checking ranges.
 */
#ifndef OMPRMA_HOST_CALLS_CALL_H
#define OMPRMA_HOST_CALLS_CALL_H

#include "host/core/device.h"

/* Takes the lock for a call on a queue, and waits for room in it, or says why it cannot run (then
 * without the lock). */
omprma_status_t call_begin(struct omprma_queue *queue);

/* Whether a queue can take operations; the lock is held. Errors: the queue's, DEVICE_LOST. */
omprma_status_t call_check_queue(struct omprma_queue *queue);

/* Waits, with the lock, for room in a further queue that the call adds to. */
void call_make_room(struct omprma_queue *queue);

/* Releases the lock and returns `status`. */
omprma_status_t call_end(struct omprma_queue *queue, omprma_status_t status);

/* Whether [address, address + bytes) may be touched. *arena: it lies in a live block; else it is
 * memory that only the worker knows: globals of images, its malloc. Errors: ADDRESS. */
omprma_status_t call_check_range(struct device *device, const char *what, omprma_addr_t address,
                                 uint64_t bytes, bool *arena);

#endif
