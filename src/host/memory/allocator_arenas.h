/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * allocator_arenas.h: the inside of an allocator, shared by allocator.c and allocator_verify.c
 * only.
 */
#ifndef OMPRMA_HOST_MEMORY_ALLOCATOR_ARENAS_H
#define OMPRMA_HOST_MEMORY_ALLOCATOR_ARENAS_H

#include "control/wire.h"
#include "host/memory/allocator.h"
#include "host/memory/granules.h"
#include "host/memory/tlsf.h"

enum { ARENAS_MOST = WIRE_ARENAS_MOST };

struct arena {
    omprma_addr_t base;
    uint64_t bytes; /* 0: this slot is unused */
    uint64_t live;  /* blocks */
    uint64_t added; /* a number that grows with each arena */
    uint32_t first; /* block at `base` */
    struct granules granules;
};

struct allocator {
    struct tlsf tlsf;
    unsigned count, empty;            /* arenas; those without live blocks */
    omprma_addr_t bases[ARENAS_MOST]; /* sorted */
    uint8_t order[ARENAS_MOST];       /* slots in the order of `bases` */
    struct arena arenas[ARENAS_MOST]; /* by slot */
    uint64_t added;
    struct allocator_usage usage;
};

static inline uint64_t arena_granule(const struct arena *arena, omprma_addr_t address)
{
    return (address - arena->base) >> TLSF_GRANULE_SHIFT;
}

#endif
