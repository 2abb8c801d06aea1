/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * in_place.h: runs of memory that the program copies within a host, from where they lie to where
 * they belong: it has mapped the arenas (control/shm/arena.h). Nothing is packed, and no worker has
 * a part in it.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_CALLS_IN_PLACE_H
#define OMPRMA_HOST_CALLS_IN_PLACE_H

#include "host/calls/packed.h"

/* Whether this process has all of both sides, and is quicker alone: where each run takes a cache
 * line at both ends, one processor that packs and one that unpacks take less time. */
bool in_place_takes(const struct side *from, const struct side *to);

/* One operation, as packed_append(). Errors: HOST_MEMORY. */
omprma_status_t in_place_append(struct omprma_queue *queue, const struct side *from,
                                const struct side *to);

#endif
