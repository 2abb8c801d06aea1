/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gather.h: small pieces of data that lie side by side on a device travel together: one submit for
 * all that a construct maps, one retrieve for all that comes back. What comes back is in its place
 * when the result arrives, because results of several constructs for the same place come in order.
 *
 * Thread: a gather or scatter is used by one thread at a time. Blocks: as omprma_submit().
 */
#ifndef OMPRMA_OPENMP_RUN_GATHER_H
#define OMPRMA_OPENMP_RUN_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include <omprma/omprma.h>

#include "openmp/device/suballoc.h"

/* A record in a message: larger data would take a transfer of its own. */
enum { GATHER_BYTES = 1024 };

struct gather {
    const struct block *block; /* that all pieces lie in */
    omprma_addr_t begin, end;  /* from the first piece to the last one; equal: it is empty */
    /* What may lie between two pieces is cleared at once, also behind the last byte. */
    unsigned char data[GATHER_BYTES + SUBALLOC_ALIGNMENT];
};

/* Adds a piece of a range that has this part; the source may be reused at once. False: it does not
 * belong to what is there. */
bool gather_add(struct gather *gather, const struct suballoc *part, omprma_addr_t to,
                const void *from, size_t bytes);

/* Puts it into the queue, and empties it. */
omprma_status_t gather_issue(struct gather *gather, omprma_queue_t *queue);

/* Makes it what stands before a region's launch, and empties it; the data stays until something is
 * added. */
void gather_give(struct gather *gather, omprma_region_t *region);

enum { SCATTER_PARTS = 64 };

struct scatter {
    const struct block *block;
    omprma_addr_t begin, end; /* from the first piece to the last one */
    size_t count;
    omprma_part_t parts[SCATTER_PARTS]; /* offsets are addresses until it is issued */
};

/* Adds a piece of a range that has this part, which goes to `to`. Pieces may come in any order.
 * False: it does not belong to what is there. */
bool scatter_add(struct scatter *scatter, const struct suballoc *part, void *to, omprma_addr_t from,
                 size_t bytes);

/* Puts it into the queue, and empties it. */
omprma_status_t scatter_issue(struct scatter *scatter, omprma_queue_t *queue);

/* Makes it what a region brings back, and empties it; the list stays until something is added. */
void scatter_give(struct scatter *scatter, omprma_region_t *region);

#endif
