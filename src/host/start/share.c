/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* share.c: An agent tells how many workers the host has. A rank that has fewer has a part of them;
 * one that has all was given them, or has an omprma-run of its own. */
#include <stdio.h>

#include <omprma_private/share.h>

#include "control/direct/local_rank.h"
#include "host/core/runtime.h"

static int workers_here(const struct world *world)
{
    int count = 0;

    for (int rank = 0; rank < world->size; rank++)
        count += rank != world->rank && !world_is_elsewhere(world, rank);
    return count;
}

int omprma_share(char *words, size_t room)
{
    const struct runtime *runtime = runtime_get();
    const struct world *world = runtime ? &runtime->world : NULL;
    struct local_rank place = local_rank_find();

    words[0] = '\0';
    if (!world || !world->offered || !place.variable)
        return -1;
    if (workers_here(world) < world->offered)
        snprintf(words, room,
                 "; this rank has its part of the %d workers of this host: give each rank the "
                 "device 0, which is another one for each, or give each all of them by omprma-run "
                 "--share all",
                 world->offered);
    else
        snprintf(words, room,
                 "; this rank has all of the workers that its omprma-run has started: give it the "
                 "device 0, or start more by omprma-run -n");
    return place.rank;
}
