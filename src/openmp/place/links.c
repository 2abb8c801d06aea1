/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links.c: each pair is asked for once. */
#include "openmp/place/links.h"

#include <string.h>

#include <omprma_private/common.h>

#include "openmp/device/devices.h"

enum {
    BRING_NS = 30000, /* what the program's side does to bring something */
    MIB_NS = 256000,  /* that many bytes, where nothing was measured */
    NEAR_NS = 100000  /* a round trip within a host takes no longer, where processors are free */
};

static struct link_cost links[SITES_MOST][SITES_MOST]; /* from, to; all 0: not asked yet */

const struct link_cost *link_between(int from, int to)
{
    struct link_cost *link = &links[from][to];
    omprma_exchange_cost_t cost = {0};
    if (link->mib_ns > 0)
        return link;
    const struct site *one = &device_of_site(from)->site, *other = &device_of_site(to)->site;
    omprma_exchange_cost(one->remote, other->remote, &cost);
    link->first_ns = (int64_t)(cost.round_trip_us * 1000);
    if (link->first_ns > NEAR_NS && strcmp(one->host, other->host) == 0)
        link->first_ns = NEAR_NS;
    link->first_ns += BRING_NS;
    link->mib_ns = cost.us_per_mib > 0 ? (int64_t)(cost.us_per_mib * 1000) : MIB_NS;
    return link;
}

int64_t link_ns(int from, int to, size_t bytes)
{
    const struct link_cost *link = link_between(from, to);
    return link->first_ns + (int64_t)((double)bytes / (1 << 20) * (double)link->mib_ns);
}
