/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * submit.h: copies between the program and a device, and what others need for copies of their own.
 *
 * Thread: with runtime->lock held. Blocks: submit_settle_host(), submit_settle_parts().
 */
#ifndef OMPRMA_HOST_CALLS_SUBMIT_H
#define OMPRMA_HOST_CALLS_SUBMIT_H

#include "host/core/operation.h"

/* Appends a submit or retrieve whose host memory is used when the transfer runs: it is not copied,
 * and nothing orders it against others that use it. Its end is reported without being asked for.
 * The range has been checked. *operation is a reference. Errors: HOST_MEMORY. */
omprma_status_t submit_part(struct omprma_queue *queue, bool submit, omprma_addr_t address,
                            void *host, uint64_t bytes, bool arena, struct operation **operation);

/* Lets operations end that use the same host memory, where nothing else keeps them in order.
 * `fill`: it will be written to. Errors: the queue's. */
omprma_status_t submit_settle_host(struct omprma_queue *queue, const void *host, uint64_t bytes,
                                   bool fill);

/* Whether the parts lie inside of a range of `bytes`, and go to memory that may be written. Errors:
 * ARGUMENT. */
omprma_status_t submit_check_parts(const struct device *device, size_t bytes,
                                   const omprma_part_t *parts, size_t count);

/* submit_settle_host() for where all parts go. */
omprma_status_t submit_settle_parts(struct omprma_queue *queue, const omprma_part_t *parts,
                                    size_t count);

/* Where a result of `bytes` goes: one part that is all of it to its place, else to a copy of the
 * list, for an operation. Errors: HOST_MEMORY. */
omprma_status_t submit_place_parts(struct omprma_queue *queue, const omprma_part_t *list,
                                   size_t count, uint64_t bytes, void **to,
                                   struct read_parts **parts);

#endif
