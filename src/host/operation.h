/*
 * operation.h: what operations on queues have in common: taking the lock, refusing a queue that has
 * failed, checking ranges.
 */
#ifndef OMPRMA_HOST_OPERATION_H
#define OMPRMA_HOST_OPERATION_H

#include "host/device.h"

/* Takes the lock for an operation on a queue, and waits for room in it, or says why it cannot run
 * (then without the lock). */
omprma_status_t operation_begin(struct omprma_queue *queue);

/* Whether a queue can take operations; the lock is held. Errors: the queue's, DEVICE_LOST. */
omprma_status_t operation_check_queue(struct omprma_queue *queue);

/* Waits, with the lock, for room in a further queue that the operation adds to. */
void operation_make_room(struct omprma_queue *queue);

/* Releases the lock and returns `status`. */
omprma_status_t operation_end(struct omprma_queue *queue, omprma_status_t status);

/* Whether [address, address + bytes) may be touched. *arena: it lies in a live block; else it is
 * memory that only the worker knows: globals of images, its malloc. Errors: ADDRESS. */
omprma_status_t operation_check_range(struct device *device, const char *what,
                                      omprma_addr_t address, uint64_t bytes, bool *arena);

/* Appends a submit or retrieve whose host memory is used when the transfer runs, whatever its size:
 * it is not copied, and nothing orders it against others that use it. Its completion is reported
 * without being asked for. For steps of our own; the range has been checked. Errors: HOST_MEMORY.
 */
omprma_status_t operation_bulk(struct omprma_queue *queue, bool submit, omprma_addr_t address,
                               void *host, uint64_t bytes, bool arena);

#endif
