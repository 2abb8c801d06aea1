/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * uses.h: what a construct may touch of what is mapped, found before its maps are entered, as a
 * list; see place/copies.h. Its memory is the work's, and kept for the next one.
 *
 * Thread: the work's. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_RUN_USES_H
#define OMPRMA_OPENMP_RUN_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapped;
struct work;

struct use {
    struct mapped *range;
    uint64_t number;  /* the range's */
    uint64_t version; /* before the work, see place/lineage.h */
    bool writes, brings;
    struct work *bringer; /* which brings it from another site; NULL: none does, */
    int64_t until_ns;     /* and when it is expected to be here; by clock_ns() */
};

struct uses {
    struct use *list;
    size_t count, room;
};

#endif
