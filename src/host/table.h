/*
 * table.h: when a worker may change what is attached to its window. With most MPI libraries it may
 * whenever it is told to. Where a one-sided access that begins meanwhile could miss its own region
 * (world_properties.attach_needs_quiet), none begins, from here or from another worker, until the
 * worker has answered; and it is told only when no other worker accesses its memory.
 *
 * Thread: with runtime->lock held. Nothing here blocks.
 */
#ifndef OMPRMA_HOST_TABLE_H
#define OMPRMA_HOST_TABLE_H

#include "host/operation.h"
#include "host/peer.h"

/* Whether it matters with this MPI library. */
bool table_is_racy(const struct peer *peer);

/* Whether the peer could be told at once. */
bool table_is_quiet(struct peer *peer);

/* It will be told by the command, which was appended and, where it matters, leaves when the table
 * is quiet. */
void table_change(struct peer *peer, struct operation *command);

/* The command that tells it, if it has not ended; else NULL. */
struct operation *table_pending(struct peer *peer);

/* Whether the message to the peer that a command opens may leave: not one that changes the table
 * while others access what is behind it, and none with such an access once a change is due. */
bool table_lets_leave(const struct peer *peer, const struct operation *first);

/* Whether no access of this process to the peer's memory may begin now. */
bool table_moves(struct peer *peer);

/* A command by which another worker accesses a peer's memory has left (1), or ends after that (-1).
 */
void table_note_access(const struct operation *command, int change);

/* The runtime ends: nothing is under way. */
void table_forget(struct peer *peer);

#endif
