/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * load.h: what a site is busy with, as far as times of earlier kernels tell. For placement
 * (place/placement.h).
 *
 * Times are of clock_ns(). Thread: the caller holds the lock of the space that the site serves.
 * Blocks: no.
 */
#ifndef OMPRMA_OPENMP_SITE_LOAD_H
#define OMPRMA_OPENMP_SITE_LOAD_H

#include <stdint.h>

enum { LOAD_KERNELS = 8 };

struct load {
    struct load_kernel {
        int64_t *usual;
        uint32_t under_way;
    } kernels[LOAD_KERNELS];      /* that are under way */
    uint32_t under_way;           /* regions */
    int64_t since_ns;             /* it does the first of them, or none; 0: it never did anything */
    uint64_t entered;             /* bytes of ranges that were mapped there first */
    uint64_t regions;             /* that it was given so far */
    int64_t took_ns, expected_ns; /* what its last regions took, and would have elsewhere */
    uint32_t paced;               /* how many regions these two know, of which old ones fade */
};

/* One region under way. */
struct loaded {
    int64_t *usual; /* how long its kernel takes; 0: not known; NULL: there is none under way */
    struct load_kernel *kernel;
    int64_t until_ns; /* it was expected to have ended, when it began */
};

/* How long a kernel takes: *usual, or what others take. */
int64_t load_usual(const int64_t *usual);

/* What takes so long elsewhere takes this there; another time only where that is clearly so. */
int64_t load_time(const struct load *load, int64_t usual_ns);

/* A region is given to it, whose kernel takes *usual. */
void load_begin(struct load *load, struct loaded *loaded, int64_t *usual, int64_t now);

/* It has ended: *usual is a mean of what has been seen, in which what was seen last counts most. */
void load_end(struct load *load, struct loaded *loaded, int64_t now);

/* It has not been done: nothing is known of its kernel by that. */
void load_drop(struct load *load, struct loaded *loaded, int64_t now);

/* Until it would begin with something else; ns. */
int64_t load_wait(const struct load *load, int64_t now);

/* Since when it has had nothing to do; ns. */
int64_t load_idle(const struct load *load, int64_t now);

#endif
