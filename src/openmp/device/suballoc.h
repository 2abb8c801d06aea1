/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * suballoc.h: device memory of mapped ranges and private variables. A block holds many small ones,
 * one behind the other, so that mapping one costs no allocation, and what a construct maps lies
 * side by side.
 *
 * Thread: the caller holds the device's lock. Blocks: as omprma_alloc(). Errors: false means that
 * it was reported.
 */
#ifndef OMPRMA_OPENMP_DEVICE_SUBALLOC_H
#define OMPRMA_OPENMP_DEVICE_SUBALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

enum {
    SUBALLOC_ALIGNMENT = 64, /* of the largest vectors */
    SUBALLOC_BYTES = 256     /* the largest range that shares a block */
};

struct block;
struct location;
struct site;

/* Memory of one range, small or not. Zero: none. */
struct suballoc {
    omprma_addr_t
        begin; /* start of the allocation; padding up to `device` is less than the alignment */
    omprma_addr_t device; /* where the range is */
    struct block *block;  /* that others have a part of, too; NULL: `begin` is a block of its own */
};

/* Where memory comes from, and what is kept for small ranges. */
struct suballocator {
    struct site *site;
    bool (*vacate)(void *owner); /* gives back what is kept for ranges that may come; false: none */
    void *owner;
    struct block *present; /* the next one is taken from this; NULL: from a new one */
    struct block *spare;
    uint32_t anew;     /* so many constructs give their ranges new places, */
    uint32_t patience; /* as many as this when it was decided */
};

void suballocator_init(struct suballocator *memory, struct site *site, bool (*vacate)(void *owner),
                       void *owner);

/* Memory that is aligned as `host` is, see omprma_alloc_like(). `name`: of the map, or NULL. */
bool suballoc_take(struct suballocator *memory, const struct location *where, const char *name,
                   uintptr_t host, size_t bytes, struct suballoc *part);

/* For anything else, without a line: an omprma_alloc() for which vacant ranges give way. */
omprma_status_t suballoc_take_other(struct suballocator *memory, size_t bytes,
                                    omprma_addr_t *begin);

/* Whether a small range lies behind one that ends at `end`, or begins a block: where it does not,
 * what a construct maps cannot travel together. */
bool suballoc_follows(const struct suballoc *part, omprma_addr_t end);

/* Nothing uses it any more. */
bool suballoc_give(struct suballocator *memory, const struct location *where,
                   const struct suballoc *part);

#endif
