/* detach.c: see detach.h. */
#include "host/detach.h"

bool detach_is_racy(const struct peer *peer)
{
    return peer->runtime->world.quirks & QUIRK_DETACH_RACE;
}

bool detach_may_begin(struct peer *peer)
{
    return !detach_is_racy(peer) || (peer->accesses == 0 && !detach_pending(peer));
}

void detach_begin(struct peer *peer, struct operation *command)
{
    detach_forget(peer);
    peer->detach = operation_hold(command);
}

struct operation *detach_pending(struct peer *peer)
{
    if (peer->detach && operation_has_ended(peer->detach))
        detach_forget(peer);
    return peer->detach;
}

bool detach_runs(struct peer *peer)
{
    const struct operation *command = detach_pending(peer);

    return command && command->state == OPERATION_ISSUED;
}

void detach_note_access(struct peer *peer, struct operation *command)
{
    if (!detach_is_racy(peer))
        return;
    command->accesses = peer;
    peer->accesses++;
}

void detach_forget(struct peer *peer)
{
    operation_drop(&peer->runtime->operations, peer->detach);
    peer->detach = NULL;
}
