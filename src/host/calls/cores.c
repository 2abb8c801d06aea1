/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cores.c: see cores.h. A worker for which nothing changes is told nothing. */
#include "host/calls/cores.h"

static void tell(struct peer *peer, uint32_t index, uint32_t count)
{
    const struct wire_record record = {
        .code = WIRE_TURN,
        .device = WIRE_NO_DEVICE,
        .word = {index, count},
    };

    if (peer->lost || (peer->turn_index == index && peer->turn_count == count))
        return;
    peer->turn_index = index;
    peer->turn_count = count;
    peer_send_record(peer, &record, false);
}

/* A worker of the same cores that has run a region. */
static bool divides_with(const struct peer *peer, const struct peer *other)
{
    return other && other->has_run && other->hello.lends &&
           other->hello.place.group == peer->hello.place.group;
}

/* Workers with GPUs, say, keep to their part from the start. Then all do. */
static bool all_lend(const struct peer *peer)
{
    const struct runtime *runtime = peer->runtime;

    for (int rank = 0; rank < runtime->world.size; rank++) {
        const struct peer *other = runtime->peers[rank];

        if (other && !other->hello.lends && other->hello.place.group == peer->hello.place.group)
            return false;
    }
    return true;
}

void cores_begin(struct peer *peer)
{
    const struct runtime *runtime = peer->runtime;
    uint32_t count = 0, index = 0;

    if (peer->has_run || !peer->hello.lends)
        return;
    peer->has_run = true;
    peer->turn_count = 1; /* what it begins with */
    if (!all_lend(peer)) {
        tell(peer, (uint32_t)peer->hello.place.index, (uint32_t)peer->hello.place.count);
        return;
    }
    for (int rank = 0; rank < runtime->world.size; rank++)
        count += divides_with(peer, runtime->peers[rank]);
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (divides_with(peer, runtime->peers[rank]))
            tell(runtime->peers[rank], index++, count);
}
