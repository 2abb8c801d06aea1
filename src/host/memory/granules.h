/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * granules.h: which live block begins where, for one arena of `count` granules. A page is 64
 * granules: one word of a hierarchical bitmap, with the number of the block that begins in it. The
 * rare page in which several begin has a leaf with a number per granule. So the books of a large
 * block are 24 bytes, those of a small one 4 to 28.
 * Knows nothing of addresses, sizes or free blocks.
 */
#ifndef OMPRMA_HOST_MEMORY_GRANULES_H
#define OMPRMA_HOST_MEMORY_GRANULES_H

#include <stdint.h>

#include "host/memory/reserve.h"

enum {
    GRANULES_SHIFT = 6, /* of 64 granules per page, 64 words per word above */
    GRANULES_PAGE = 1 << GRANULES_SHIFT,
    GRANULES_LEVELS = 6 /* 2^36 granules, 4 TiB */
};

struct granule_page {
    uint64_t live;  /* a bit per granule: a live block begins here */
    uint64_t freed; /* one did, and was given back */
    uint32_t block; /* without a leaf: the one block that begins in the page */
    uint32_t leaf;  /* 0: none */
};

struct granule_leaf {
    uint32_t block[GRANULES_PAGE]; /* block[0] of an unused leaf: the next unused one */
};

struct granules {
    struct granule_page *pages;
    struct granule_leaf *leaves;
    uint64_t ready;                       /* pages that are usable */
    uint64_t *upper[GRANULES_LEVELS - 1]; /* a bit per page or word below that is not 0 */
    unsigned uppers;                      /* levels of it */
    uint32_t leaf_records, leaf_spare;    /* numbers below were used once; list of unused ones */
    struct reserve page_memory, leaf_memory, upper_memory;
};

/* False when the host has no memory. */
bool granules_open(struct granules *granules, uint64_t count);
void granules_close(struct granules *granules);

/* To be called, and to give true, before granules_set(). */
bool granules_grow(struct granules *granules, uint64_t granule);

/* Block `block` (not 0) begins at `granule` / the one that did is given back. */
void granules_set(struct granules *granules, uint64_t granule, uint32_t block);
void granules_clear(struct granules *granules, uint64_t granule);

/* The block that begins at `granule`, 0: none. */
uint32_t granules_get(const struct granules *granules, uint64_t granule);

/* True if a block began at `granule` and was given back. */
bool granules_freed(const struct granules *granules, uint64_t granule);

/* The block that begins at or before `granule`, nearest to it; 0: none. */
uint32_t granules_find(const struct granules *granules, uint64_t granule);

/* Number of block starts, counted; for tests. */
uint64_t granules_total(const struct granules *granules);

#endif
