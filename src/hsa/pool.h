/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * pool.h: memory pools, and regions, which are the same by their older name. The host has one pool
 * for each set of flags that programs look for; a GPU has its device memory, and the memory of its
 * work groups, which cannot be allocated. Regions of a GPU are those and the host's one for
 * arguments of kernels.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_HSA_POOL_H
#define OMPRMA_HSA_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hsa_abi.h"

struct gpu;

struct pool {
    struct gpu *gpu; /* NULL: the host's */
    hsa_amd_segment_t segment;
    uint32_t flags; /* enum hsa_amd_memory_pool_global_flag */
    size_t bytes;
    bool allocates; /* memory of it can be had */
};

enum { POOL_GRANULE = 4096 }; /* sizes are rounded up to it, and addresses are multiples of it */

/* How many pools the host and a GPU have, and regions a GPU: that of the host for arguments, then
 * its own. */
enum { HOST_POOLS = 3, GPU_POOLS = 2, GPU_REGIONS = 1 + GPU_POOLS };

/* False: no such pool. */
bool pool_of(hsa_amd_memory_pool_t handle, struct pool *pool);
bool pool_of_region(hsa_region_t handle, struct pool *pool);

#endif
