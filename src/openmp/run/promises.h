/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * promises.h: what a region only reads by the program's word, as a list; see place/promised.h. Its
 * memory is the work's, and kept for the next one.
 *
 * Thread: the work's. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_RUN_PROMISES_H
#define OMPRMA_OPENMP_RUN_PROMISES_H

#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

#include "openmp/device/suballoc.h"

struct mapped;

struct promise {
    const struct mapped *range;
    omprma_addr_t at;
    size_t bytes;
    const char *name; /* the map's */
};

struct promised {
    struct promise *list;
    size_t count, room;
    struct suballoc sums; /* device memory */
    uint64_t changed;     /* which one was written, from 1; 0: none was */
};

#endif
