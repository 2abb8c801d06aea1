/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * load.h: what a site is busy with, as far as times of earlier kernels tell. For placement
 * (place/placement.h).
 *
 * Thread: the caller holds the lock of the space that the site serves. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_SITE_LOAD_H
#define OMPRMA_OPENMP_SITE_LOAD_H

#include <stdint.h>

struct load {
    int64_t until_ns; /* it is expected to be done with all that it was given */
    int64_t ended_ns; /* the last kernel has ended */
    uint64_t entered; /* bytes of ranges that were mapped there first */
    uint32_t under_way;
    uint64_t regions; /* that it was given so far */
};

/* One region under way. */
struct loaded {
    int64_t *usual; /* how long its kernel takes; 0: not known; NULL: there is none under way */
    int64_t begun_ns;
    int64_t until_ns; /* it is expected to have ended */
};

/* A region is given to it, whose kernel takes *usual. */
void load_begin(struct load *load, struct loaded *loaded, int64_t *usual);

/* It has ended: *usual is what has been seen, shorter times at once, longer ones by and by, as they
 * may hold waits. */
void load_end(struct load *load, struct loaded *loaded);

/* Until it would begin with something else; ns. */
int64_t load_wait(const struct load *load);

#endif
