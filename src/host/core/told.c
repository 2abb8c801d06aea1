/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* told.c: a list of each peer, as long as there are arenas that it has put to. */
#include "host/core/told.h"

#include <stdlib.h>

#include "base/error.h"
#include "control/shm/arena.h"

/* In place of where it begins: the worker was told of the bell. */
static const uint64_t NO_ARENA = 0;

static struct told_arena *find(const struct peer *peer, int rank, uint64_t base)
{
    for (int i = 0; i < peer->told.count; i++)
        if (peer->told.all[i].base == base && peer->told.all[i].rank == rank)
            return &peer->told.all[i];
    return NULL;
}

static omprma_status_t note(struct told_arenas *told, int rank, uint64_t base)
{
    int room = told->room ? 2 * told->room : 8;
    struct told_arena *all = told->all;

    if (told->count == told->room) {
        all = realloc(all, (size_t)room * sizeof(*all));
        if (!all)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a list of arenas");
        told->all = all;
        told->room = room;
    }
    all[told->count++] = (struct told_arena){rank, base};
    return OMPRMA_OK;
}

/* Unless it knows. */
static omprma_status_t tell(struct peer *peer, int rank, uint64_t base,
                            const struct wire_record *record)
{
    omprma_status_t status;

    if (find(peer, rank, base))
        return OMPRMA_OK;
    status = note(&peer->told, rank, base);
    return status == OMPRMA_OK ? peer_send_record(peer, record, false) : status;
}

omprma_status_t told_of(struct peer *peer, const struct peer *owner, const struct arena *arena)
{
    const struct wire_record record = {
        .code = WIRE_MAP,
        .device = WIRE_NO_DEVICE,
        .word = {(uint64_t)owner->rank, arena->base, arena->bytes},
        .tail = &arena->address,
        .tail_bytes = sizeof(arena->address),
    };

    return tell(peer, owner->rank, arena->base, &record);
}

omprma_status_t told_of_bell(struct peer *peer, const struct peer *owner)
{
    const struct wire_record record = {
        .code = WIRE_BELL,
        .device = WIRE_NO_DEVICE,
        .word = {(uint64_t)owner->rank},
        .tail = &owner->hello.bell,
        .tail_bytes = sizeof(owner->hello.bell),
    };

    return tell(peer, owner->rank, NO_ARENA, &record);
}

void told_forget(const struct peer *owner, uint64_t base)
{
    const struct runtime *runtime = owner->runtime;
    const struct wire_record record = {
        .code = WIRE_UNMAP,
        .device = WIRE_NO_DEVICE,
        .word = {(uint64_t)owner->rank, base},
    };

    for (int rank = 0; rank < runtime->world.size; rank++) {
        struct peer *peer = runtime->peers[rank];
        struct told_arena *told = peer ? find(peer, owner->rank, base) : NULL;

        if (!told)
            continue;
        *told = peer->told.all[--peer->told.count];
        if (peer_listens(peer))
            peer_send_record(peer, &record, false);
    }
}

void told_free(struct peer *peer)
{
    free(peer->told.all);
    peer->told = (struct told_arenas){0};
}
