/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attach_order.h: when a worker may change what is attached to its window. With most MPI libraries
 * it may whenever it is told to. Where a one-sided access that begins meanwhile could miss its own
 * region (world_properties.attach_needs_quiet), none begins, from here or from another worker,
 * until the worker has answered; and it is told only when no other worker accesses its memory.
 *
 * Thread: with runtime->lock held. Nothing here blocks.
 */
#ifndef OMPRMA_HOST_CORE_ATTACH_ORDER_H
#define OMPRMA_HOST_CORE_ATTACH_ORDER_H

#include "host/core/operation.h"
#include "host/core/peer.h"

/* Whether it matters with this MPI library. */
bool attach_order_matters(const struct peer *peer);

/* Whether the peer could be told at once. */
bool attach_order_is_quiet(struct peer *peer);

/* It will be told by the command, which was appended and, where it matters, leaves when the table
 * is quiet. */
void attach_order_change(struct peer *peer, struct operation *command);

/* The command that tells it, if it has not ended; else NULL. */
struct operation *attach_order_pending(struct peer *peer);

/* Whether the message to the peer that a command opens may leave. False if it attaches or detaches
 * while accesses are under way, or accesses while such a change waits. */
bool attach_order_lets_leave(const struct peer *peer, const struct operation *first);

/* Whether no access of this process to the peer's memory may begin now. */
bool attach_order_moves(struct peer *peer);

/* A command by which another worker accesses a peer's memory has left (1), or ends after that (-1).
 */
void attach_order_note_access(const struct operation *command, int change);

/* The runtime ends: nothing is under way. */
void attach_order_forget(struct peer *peer);

#endif
