/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * share.h: device memory of mapped ranges and private variables. A block holds many small ones, one
 * behind the other, so that mapping one costs no allocation, and what a construct maps lies side by
 * side.
 *
 * Thread: the caller holds the device's lock. Blocks: as omprma_alloc(). Errors: false means that
 * it was reported.
 */
#ifndef OMPRMA_OPENMP_DEVICE_SHARE_H
#define OMPRMA_OPENMP_DEVICE_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

enum {
    SHARE_ALIGNMENT = 64, /* of the largest vectors */
    SHARE_BYTES = 256     /* the largest range that shares a block */
};

struct block;
struct location;
struct site;

/* Memory of one range, small or not. Zero: none. */
struct share {
    omprma_addr_t
        begin; /* start of the allocation; padding up to `device` is less than the alignment */
    omprma_addr_t device; /* where the range is */
    struct block *block;  /* that others have a part of, too; NULL: `begin` is a block of its own */
};

/* Where memory comes from, and what is kept for small ranges. */
struct shares {
    struct site *site;
    bool (*vacate)(void *owner); /* gives back what is kept for ranges that may come; false: none */
    void *owner;
    struct block *present; /* the next one is taken from this; NULL: from a new one */
    struct block *spare;
    uint32_t anew;     /* so many constructs give their ranges new places, */
    uint32_t patience; /* as many as this when it was decided */
};

void shares_init(struct shares *shares, struct site *site, bool (*vacate)(void *owner),
                 void *owner);

/* Memory that is aligned as `host` is, see omprma_alloc_like(). `name`: of the map, or NULL. */
bool share_take(struct shares *shares, const struct location *where, const char *name,
                uintptr_t host, size_t bytes, struct share *share);

/* For anything else, without a line: an omprma_alloc() for which vacant ranges give way. */
omprma_status_t share_take_other(struct shares *shares, size_t bytes, omprma_addr_t *begin);

/* Whether a small range lies behind one that ends at `end`, or begins a block: where it does not,
 * what a construct maps cannot travel together. */
bool share_follows(const struct share *share, omprma_addr_t end);

/* Nothing uses it any more. */
bool share_give(struct shares *shares, const struct location *where, const struct share *share);

#endif
