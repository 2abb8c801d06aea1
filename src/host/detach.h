/*
 * detach.h: when a worker may detach an arena. With most MPI libraries it may whenever it is told
 * to. Where a one-sided access that begins meanwhile could miss its own region (quirk
 * "detach-race"), none begins, from here or from another worker, until the worker has answered; and
 * it is told only when no other worker accesses its memory.
 *
 * Thread: with runtime->lock held. Nothing here blocks.
 */
#ifndef OMPRMA_HOST_DETACH_H
#define OMPRMA_HOST_DETACH_H

#include "host/operation.h"
#include "host/peer.h"

/* Whether it matters with this MPI library. */
bool detach_is_racy(const struct peer *peer);

/* Whether the peer may be told to detach an arena now. */
bool detach_may_begin(struct peer *peer);

/* It is about to be told by the command. */
void detach_begin(struct peer *peer, struct operation *command);

/* The command that tells it, if it has not ended; else NULL. */
struct operation *detach_pending(struct peer *peer);

/* Whether no access of this process to the peer's memory may begin now. */
bool detach_runs(struct peer *peer);

/* Counts a command by which another worker accesses the peer's memory, until it has ended. */
void detach_note_access(struct peer *peer, struct operation *command);

/* The runtime ends: nothing is under way. */
void detach_forget(struct peer *peer);

#endif
