/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * price.c: Waits are known to no less than a region, because it is seen late how far a queue is, so
 * between busy sites a difference of two regions counts. A site that has just become free counts
 * as a busy one: it is expected to get regions of its own data. The longer it gets none, the less
 * it counts so.
 */
#include "openmp/place/price.h"

enum {
    LEAVE_NS = 800000, /* what a move costs others beside what has to be brought */
    LEAVE_REGIONS = 2
};

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t leave_price(const struct offer *offer, int64_t usual_ns)
{
    return later(0, LEAVE_NS + LEAVE_REGIONS * usual_ns - offer->idle_ns);
}

int64_t offer_price(const struct offer *offer, int64_t usual_ns, int64_t written_ns)
{
    return later(offer->wait_ns, written_ns) + offer->bring_ns + offer->more_ns +
           (offer->has ? 0 : leave_price(offer, usual_ns));
}
