/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lineage.h: which regions have made the values of ranges, and of which values. What all sites have
 * lost of a range is computed again by the same regions, where these and what they read are known
 * still: from what the program's memory has, or, for one that was given nothing when it was made,
 * from nothing.
 *
 * The value of a range is told by the number of the work that wrote it last: its version. A work
 * that failed has none: who found its version had no order with it, as what has one begins when the
 * first is over. A region
 * is noted if it gets no data from the program's memory but small private variables, and what it
 * maps itself (own.h), and if it uses no variables of images. Attached pointers are a part of their
 * range's value: addresses hold on all sites. The latest few thousand regions are known.
 *
 * Thread: the caller holds the space's lock.
 */
#ifndef OMPRMA_OPENMP_PLACE_LINEAGE_H
#define OMPRMA_OPENMP_PLACE_LINEAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

#include "openmp/device/mapping.h"
#include "openmp/place/own.h"
#include "openmp/run/work.h"

enum { LINEAGE_WORDS = 256 }; /* the most of a region that is noted */

/* A region that was issued. */
struct ancestor {
    uint64_t number;     /* of its work, and so of what it wrote */
    const void *host_id; /* which region */
    const struct site *site;
    omprma_geometry_t geometry;
    bool done;       /* else it is under way, or has failed */
    bool context;    /* see omprma_region_t */
    struct own *own; /* NULL: none */
    uint64_t plan;   /* the number of the last one that it is in */
    size_t count, use_count;
    uint64_t *words; /* behind what it used */
    struct ancestor_use {
        struct mapped *range;
        uint64_t number;  /* the range's */
        uint64_t version; /* that it had before */
        bool writes;
    } uses[];
};

/* What is to be computed again: ranges, and the regions for it, the oldest first. */
struct lineage {
    uint64_t number; /* of the plan: `used_by` of its ranges, whose `use` says which they are */
    struct heir {
        struct mapped *range;
        uint64_t base; /* the version that it begins with */
        bool home;     /* which the program's memory has; else it has nothing then */
    } * heirs;
    size_t heir_count, heir_room;
    struct ancestor **steps;
    size_t step_count, step_room;
};

/* A region has been issued by the work, whose uses have not been pinned yet; its maps have. Where
 * there is no memory for it, it is not noted. Blocks: no. */
void lineage_note(const struct work *work, const void *host_id);

/* The region of this work is done, if it is noted. Blocks: no. */
void lineage_done(uint64_t work);

/* Which regions there are among those that are noted, each once, at most so many. How many. Blocks:
 * no. */
size_t lineage_regions(const void **host_ids, size_t most);

/* An empty one. */
void lineage_begin(struct lineage *lineage, struct space *space);

/* Adds the range, with all that is needed for it. False: it cannot be computed again, and nothing
 * is added. Blocks: no. */
bool lineage_add(struct lineage *lineage, struct mapped *mapped);

/* All have been added: in the order in which they are to be done. */
void lineage_sort(struct lineage *lineage);

static inline bool lineage_has(const struct lineage *lineage, const struct mapped *mapped)
{
    return mapped->used_by == lineage->number;
}

/* Frees it. The regions are known on. */
void lineage_end(struct lineage *lineage);

#endif
