/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * deal.h: where the first regions go that use data which was entered before. What a region reads
 * others read as well, mostly those beside it in the order in which they come; so data is dealt
 * out in blocks, each site as many ranges as any other, as regions come that use it. That is for
 * regions which share what they read: one that has its data for itself stays where that is. The
 * first cannot share yet, so the first block goes where that one went.
 *
 * Thread: the caller holds the space's lock. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_PLACE_DEAL_H
#define OMPRMA_OPENMP_PLACE_DEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "openmp/device/mapping.h"

/* Ranges that were entered since a region first used one of those before them. All 0 at first. */
struct deal {
    uint64_t number;
    uint64_t entered, used; /* by regions */
    uint64_t region;        /* the number of the one that comes */
    uint64_t used_before;   /* it */
    int first;              /* the site that the first of them went to */
    bool apart;             /* it uses something else, or what a region has written; */
    bool shares;            /* or what another one uses, too */
};

/* The range has been entered. */
void deal_enter(struct deal *deal, struct mapped *mapped);

/* A region comes; each range that it uses follows. */
void deal_region(struct deal *deal);
void deal_use(struct deal *deal, struct mapped *mapped, bool writes);

/* The site, of so many, that the region is to go to; -1: that is not said. */
int deal_site(const struct deal *deal, int sites);

/* The region went to this site. */
void deal_gone(struct deal *deal, int site);

#endif
