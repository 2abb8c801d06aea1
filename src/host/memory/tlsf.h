/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tlsf.h: records of blocks, and the index of the free ones by size (two-level segregated fit). A
 * record lies in host memory; the block that it describes is never touched. Knows nothing of arenas
 * beyond their number in a record.
 *
 * Sizes are multiples of a granule (64 bytes) and at most TLSF_LARGEST.
 */
#ifndef OMPRMA_HOST_MEMORY_TLSF_H
#define OMPRMA_HOST_MEMORY_TLSF_H

#include <stdint.h>

#include "host/memory/reserve.h"

#define TLSF_LARGEST (UINT64_C(1) << 40)

enum {
    TLSF_GRANULE_SHIFT = 6,
    TLSF_SUB_SHIFT = 5, /* 32 classes per power of two: a class is 3 % wide */
    TLSF_SUBS = 1 << TLSF_SUB_SHIFT,
    TLSF_ROWS = 40 - TLSF_GRANULE_SHIFT - TLSF_SUB_SHIFT + 2
};

enum block_state { BLOCK_UNUSED, BLOCK_FREE, BLOCK_LIVE };

/* Half a cache line: with many blocks, what give costs is fetching records. */
struct block {
    uint64_t start;          /* device address, of a granule */
    uint64_t granules : 35;  /* size, with padding */
    uint64_t padding : 12;   /* live: bytes behind what was asked for */
    uint64_t arena : 6;      /* slot */
    uint64_t state : 2;      /* enum block_state */
    uint64_t skipped : 6;    /* live: bytes of the first granule in front of it */
    uint32_t before, after;  /* neighbours in the arena, 0: none */
    uint32_t previous, next; /* free: in the class's list; unused: next spare record */
};

static inline uint64_t block_size(const struct block *block)
{
    return (uint64_t)block->granules << TLSF_GRANULE_SHIFT;
}

/* Of a live one: its address, and the bytes that were asked for. */
static inline uint64_t block_begin(const struct block *block)
{
    return block->start + block->skipped;
}

static inline uint64_t block_asked(const struct block *block)
{
    return block_size(block) - block->skipped - block->padding;
}

struct tlsf {
    struct block *blocks; /* by number; never moves */
    uint32_t records;     /* numbers below were handed out at least once */
    uint32_t spare;       /* list of unused records */
    uint32_t spares;      /* its length */
    uint32_t row_map;     /* rows that have a class that is not empty */
    uint32_t sub_map[TLSF_ROWS];
    uint32_t heads[TLSF_ROWS][TLSF_SUBS];
    struct reserve memory;
};

/* False when the host has no memory. */
bool tlsf_open(struct tlsf *tlsf);
void tlsf_close(struct tlsf *tlsf);

/* True if the next `count` tlsf_record() calls cannot fail. */
bool tlsf_ready(struct tlsf *tlsf, uint32_t count);

/* An unused record, after tlsf_ready(); its fields are the caller's to set. */
uint32_t tlsf_record(struct tlsf *tlsf);
void tlsf_unrecord(struct tlsf *tlsf, uint32_t number);

/* Into and out of the index of free blocks; sets the state to FREE (insert) or leaves it. */
void tlsf_insert(struct tlsf *tlsf, uint32_t number);
void tlsf_remove(struct tlsf *tlsf, uint32_t number);

/* A free block with room for `bytes` from an address on that is `residue` modulo `alignment` (a
 * power of two); 0 if none is found. Constant time; a block less than 3 % larger than needed may be
 * missed when many are alike. */
uint32_t tlsf_find(const struct tlsf *tlsf, uint64_t bytes, uint64_t alignment, uint64_t residue);

/* The class of a size in granules, for tests: its row times TLSF_SUBS plus its place there. */
unsigned tlsf_class(uint64_t granules);

#endif
