/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * price.h: what speaks against a site for a construct, as a time. The site with the lowest price
 * gets it. A region that is placed elsewhere than what it writes takes that along, and those that
 * follow it, and what their neighbours read; a site that is free for a moment would draw what comes
 * back in the next step. So there has to be a clear gain.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_PLACE_PRICE_H
#define OMPRMA_OPENMP_PLACE_PRICE_H

#include <stdbool.h>
#include <stdint.h>

struct offer {
    bool has;         /* no site has more of the construct's own data, see placement.c */
    int64_t wait_ns;  /* until regions that are under way there are done; */
    int64_t idle_ns;  /* since when there have been none */
    int64_t bring_ns; /* what the construct lacks there, */
    int64_t more_ns;  /* and how much longer it takes there than elsewhere */
};

/* `usual_ns`: what a region like the construct takes; 0: it is none. `written_ns`: until what it
 * uses has been written. */
int64_t offer_price(const struct offer *offer, int64_t usual_ns, int64_t written_ns);

#endif
