/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * told.h: which arenas of other workers of its host a worker was told of, so that it copies to them
 * by itself. It is told once, before it is first asked to, and again when the arena goes.
 *
 * Thread: with runtime->lock held. Blocks: no.
 */
#ifndef OMPRMA_HOST_CORE_TOLD_H
#define OMPRMA_HOST_CORE_TOLD_H

#include "host/core/peer.h"

struct arena;

/* Tells the peer of an arena of the `owner`, unless it knows. Errors: HOST_MEMORY, MPI,
 * DEVICE_LOST. */
omprma_status_t told_of(struct peer *peer, const struct peer *owner, const struct arena *arena);

/* Tells the peer of the owner's bell, unless it knows, so that it begins nothing any more with one
 * that has died. Errors: the same. */
omprma_status_t told_of_bell(struct peer *peer, const struct peer *owner);

/* The owner's arena that begins there goes: tells all who know of it. No data is on its way there.
 */
void told_forget(const struct peer *owner, uint64_t base);

/* Of one who ends. */
void told_free(struct peer *peer);

#endif
