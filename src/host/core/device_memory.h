/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device_memory.h: memory that blocks are handed out from: the allocator, the arenas that it has,
 * and blocks that were freed but may still be used.
 *
 * Thread: see the fields.
 */
#ifndef OMPRMA_HOST_CORE_DEVICE_MEMORY_H
#define OMPRMA_HOST_CORE_DEVICE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spinlock.h"
#include "host/memory/addresses.h"
#include "host/memory/allocator.h"

struct operation;

/* A block that was freed, see retired.h. */
struct retired {
    struct retired *next;
    omprma_addr_t block;
    uint32_t count;
    struct operation *mark[]; /* references */
};

struct device_memory {
    struct spinlock lock; /* of the allocator and the bytes */
    struct allocator *allocator;
    uint64_t attached_bytes;
    struct addresses addresses; /* of the arenas, as far as they could be kept free here; with
                                 * runtime->lock held */
    _Atomic bool keeps;         /* a lost device may still read or write it: nothing is reused */
    struct retired *retired_first, *retired_last; /* changed with both locks held, read with one */
    _Atomic uint32_t retired_count;               /* the same, but read without */
};

#endif
