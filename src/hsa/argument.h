/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * argument.h: arguments of kernels: bytes that travel with the launch. A GPU of a worker cannot
 * reach memory of the host. Where a word of the arguments is an address in a block that the library
 * knows (allocated from a pool of the host, or locked), the block is shipped: copied to the GPU
 * before the kernel, the word changed to the copy's address, and what the kernel has changed there
 * is brought back after it, before its signal moves on.
 *
 * Thread: one at a time for each structure. Blocks: arguments_ship(), arguments_bring_back() as the
 * functions of omprma that put something into a queue; the first as omprma_alloc(), too.
 */
#ifndef OMPRMA_HSA_ARGUMENT_H
#define OMPRMA_HSA_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "hsa/kernel.h"
#include "hsa/lanes.h"

struct shipment;

struct arguments {
    const void *bytes; /* for the launch */
    size_t size;
    void *changed; /* a copy of them, if words had to be changed, or NULL */
    struct shipment *shipments;
};

/* Looks at the arguments that lie at `address`. False: they cannot be had; a line has been printed.
 */
bool arguments_collect(struct arguments *arguments, struct gpu *gpu, const struct kernel *kernel,
                       const void *address);

/* Puts copies of blocks into the lane, before the kernel. Errors: omprma's, HOST_MEMORY. */
omprma_status_t arguments_ship(struct arguments *arguments, struct lane *lane);

/* Has what they have become retrieved, behind the kernel. */
omprma_status_t arguments_bring_back(struct arguments *arguments, struct lane *lane);

/* For lane_tell(): the data is the shipments; what has changed is written to the host's memory. */
void arguments_over(struct operation *operation, omprma_status_t status);

/* After the launch. Shipments are the lane's, unless it has failed. */
void arguments_end(struct arguments *arguments, bool failed);

#endif
