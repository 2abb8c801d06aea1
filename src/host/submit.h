/*
 * submit.h: copies between the program and a device, and what others need for copies of their own.
 *
 * Thread: with runtime->lock held. Blocks: submit_settle_host() only.
 */
#ifndef OMPRMA_HOST_SUBMIT_H
#define OMPRMA_HOST_SUBMIT_H

#include "host/operation.h"

/* Appends a submit or retrieve whose host memory is used when the transfer runs: it is not copied,
 * and nothing orders it against others that use it. Its end is reported without being asked for.
 * The range has been checked. *operation is a reference. Errors: HOST_MEMORY. */
omprma_status_t submit_part(struct omprma_queue *queue, bool submit, omprma_addr_t address,
                            void *host, uint64_t bytes, bool arena, struct operation **operation);

/* Lets operations end that use the same host memory, where nothing else keeps them in order.
 * `fill`: it will be written to. Errors: the queue's. */
omprma_status_t submit_settle_host(struct omprma_queue *queue, const void *host, uint64_t bytes,
                                   bool fill);

/* Whether the parts lie inside of a range of `bytes`. Errors: ARGUMENT. */
omprma_status_t submit_check_parts(const struct device *device, size_t bytes,
                                   const omprma_part_t *parts, size_t count);

/* The parts that have bytes, for an operation. NULL: no memory, which is the thread's error. */
struct read_parts *submit_copy_parts(const omprma_part_t *list, size_t count);

#endif
