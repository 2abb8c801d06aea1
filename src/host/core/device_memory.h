/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device_memory.h: memory that blocks are handed out from: the allocator, the arenas that it has,
 * and blocks that were freed but may still be used. Several devices may have one memory in common:
 * each arena is then attached by all of them, at the same address.
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

struct device;
struct operation;

/* A block that was freed, see retired.h. */
struct retired {
    struct retired *next;
    omprma_addr_t block;
    uint32_t count;
    struct operation *mark[]; /* references */
};

/* An arena that is not used, because something else in the program has its addresses. */
struct held_arena {
    omprma_addr_t base;
    uint64_t bytes;
};

enum { DEVICE_HELD = 64 };

struct device_memory {
    struct device **devices; /* that have it; their own list */
    int device_count;
    struct spinlock lock; /* of the allocator and the bytes */
    struct allocator *allocator;
    uint64_t attached_bytes;
    struct addresses addresses; /* of the arenas, as far as they could be kept free here; with
                                 * runtime->lock held */
    struct held_arena held[DEVICE_HELD]; /* until one of other addresses is found, see arena.c; */
    int held_count;                      /* with runtime->lock held */
    _Atomic bool keeps; /* a lost device may still read or write it: nothing is reused */
    struct retired *retired_first, *retired_last; /* changed with both locks held, read with one */
    _Atomic uint32_t retired_count;               /* the same, but read without */
};

#endif
