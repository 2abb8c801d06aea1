/* table.c: see table.h. */
#include "host/table.h"

bool table_is_racy(const struct peer *peer)
{
    return peer->runtime->world.can.attach_needs_quiet;
}

bool table_is_quiet(struct peer *peer)
{
    return !table_is_racy(peer) || (peer->accesses == 0 && !table_pending(peer));
}

void table_change(struct peer *peer, struct operation *command)
{
    if (!table_is_racy(peer))
        return;
    table_forget(peer);
    peer->change = operation_hold(command);
}

struct operation *table_pending(struct peer *peer)
{
    if (peer->change && operation_has_ended(peer->change))
        table_forget(peer);
    return peer->change;
}

bool table_lets_leave(const struct peer *peer, const struct operation *first)
{
    if (!table_is_racy(peer))
        return true;
    if (peer->change == first && peer->accesses > 0)
        return false;
    for (const struct operation *o = first; o; o = o->next) {
        if (o->kind == OPERATION_MARK)
            continue;
        if (o->message != first->message)
            break;
        if (o->reaches && table_pending(o->reaches))
            return false;
    }
    return true;
}

bool table_moves(struct peer *peer)
{
    const struct operation *command = table_pending(peer);

    return command && command->state == OPERATION_ISSUED;
}

void table_note_access(const struct operation *command, int change)
{
    if (command->reaches)
        command->reaches->accesses += (uint32_t)change;
}

void table_forget(struct peer *peer)
{
    operation_drop(&peer->runtime->operations, peer->change);
    peer->change = NULL;
}
