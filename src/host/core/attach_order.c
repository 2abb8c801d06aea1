/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attach_order.c: each peer counts the accesses of other workers that are under way, and keeps the
 * change that waits. A message leaves only if none of its commands conflicts with that; where it
 * cannot, the queue looks again when the change is answered.
 */
#include "host/core/attach_order.h"

bool attach_order_matters(const struct peer *peer)
{
    return peer->runtime->world.can.attach_needs_quiet;
}

bool attach_order_is_quiet(struct peer *peer)
{
    return !attach_order_matters(peer) || (peer->accesses == 0 && !attach_order_pending(peer));
}

void attach_order_change(struct peer *peer, struct operation *command)
{
    if (!attach_order_matters(peer))
        return;
    attach_order_forget(peer);
    peer->change = operation_hold(command);
}

struct operation *attach_order_pending(struct peer *peer)
{
    if (peer->change && operation_has_ended(peer->change))
        attach_order_forget(peer);
    return peer->change;
}

bool attach_order_lets_leave(const struct peer *peer, const struct operation *first)
{
    if (!attach_order_matters(peer))
        return true;
    if (peer->change == first && peer->accesses > 0)
        return false;
    for (const struct operation *o = first; o; o = o->next) {
        if (o->kind == OPERATION_MARK)
            continue;
        if (o->message != first->message)
            break;
        if (o->reaches && attach_order_pending(o->reaches))
            return false;
    }
    return true;
}

bool attach_order_moves(struct peer *peer)
{
    const struct operation *command = attach_order_pending(peer);

    return command && command->state == OPERATION_ISSUED;
}

void attach_order_note_access(const struct operation *command, int change)
{
    if (command->reaches)
        command->reaches->accesses += (uint32_t)change;
}

void attach_order_forget(struct peer *peer)
{
    operation_drop(&peer->runtime->operations, peer->change);
    peer->change = NULL;
}
