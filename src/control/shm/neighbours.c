/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * neighbours.c: a list of peers, each with its arenas, and one of transfers under way: those whose
 * arena goes are left at once, and fail when they are looked at.
 */
#include "control/shm/neighbours.h"

#include <stdlib.h>

#include "base/error.h"
#include "control/shm/arena.h"
#include "control/shm/mapped.h"
#include "control/shm/split.h"

/* A transfer under way. */
struct moving {
    struct moving *next;
    struct split split; /* of no arena: that has gone */
};

_Static_assert(sizeof(struct moving) <= TRANSFER_STATE_BYTES, "a transfer under way");

struct neighbour {
    struct neighbour *next;
    int rank;
    struct mapped_arenas arenas;
};

struct neighbours {
    struct datapath base;
    struct neighbour *first;
    struct moving *moving;
    struct copier copier; /* helps with large ones */
};

static struct neighbour *find(const struct datapath *path, int rank)
{
    const struct neighbours *self = (const struct neighbours *)path;
    struct neighbour *each = self ? self->first : NULL;

    while (each && each->rank != rank)
        each = each->next;
    return each;
}

static const struct arena *arena_of(const struct datapath *path, int rank, uint64_t address,
                                    uint64_t bytes)
{
    const struct neighbour *neighbour = find(path, rank);

    return neighbour ? mapped_find(&neighbour->arenas, address, bytes) : NULL;
}

/* ---- arenas ---- */

bool neighbours_add(struct datapath *path, int rank, const struct shm_address *file, uint64_t base,
                    uint64_t bytes)
{
    struct neighbours *self = (struct neighbours *)path;
    struct neighbour *neighbour = find(path, rank);

    if (!neighbour) {
        neighbour = calloc(1, sizeof(*neighbour));
        if (!neighbour)
            return false;
        neighbour->rank = rank;
        neighbour->next = self->first;
        self->first = neighbour;
    }
    return mapped_add(&neighbour->arenas, file, base, bytes);
}

/* Nothing uses the memory from now on. */
static void leave(struct datapath *path, const struct arena *arena)
{
    struct neighbours *self = (struct neighbours *)path;

    for (struct moving *each = self->moving; each; each = each->next) {
        if (each->split.arena != arena)
            continue;
        split_leave(&each->split);
        each->split.arena = NULL;
    }
}

void neighbours_drop(struct datapath *path, int rank, uint64_t base)
{
    struct neighbour *neighbour = find(path, rank);

    if (!neighbour)
        return;
    leave(path, mapped_find(&neighbour->arenas, base, 1));
    mapped_drop(&neighbour->arenas, base);
}

void neighbours_drop_all(struct datapath *path, int rank)
{
    struct neighbour *neighbour = find(path, rank);

    if (!neighbour)
        return;
    for (int i = 0; i < neighbour->arenas.count; i++)
        leave(path, neighbour->arenas.all[i]);
    mapped_drop_all(&neighbour->arenas);
}

bool neighbours_hold(const struct datapath *path, int rank, uint64_t address, uint64_t bytes)
{
    return arena_of(path, rank, address, bytes) != NULL;
}

/* ---- transfers ---- */

static struct moving *moving_of(struct transfer *transfer)
{
    return (struct moving *)(void *)transfer->state;
}

static omprma_status_t neighbours_start(struct datapath *path, struct transfer *transfer)
{
    struct neighbours *self = (struct neighbours *)path;
    struct moving *moving = moving_of(transfer);
    const struct arena *arena = arena_of(path, transfer->peer, transfer->remote, transfer->bytes);

    split_begin(&moving->split, arena ? &self->copier : NULL, arena, transfer);
    moving->next = self->moving;
    self->moving = moving;
    return OMPRMA_OK;
}

static void forget(struct datapath *path, const struct moving *moving)
{
    struct neighbours *self = (struct neighbours *)path;
    struct moving **link = &self->moving;

    while (*link != moving)
        link = &(*link)->next;
    *link = moving->next;
}

static omprma_status_t neighbours_test(struct datapath *path, struct transfer *t, bool *done)
{
    struct moving *moving = moving_of(t);
    bool gone = !moving->split.arena;

    *done = !gone && split_progress(&moving->split);
    if (gone || *done)
        forget(path, moving);
    return gone ? error_set(OMPRMA_ERR_DEVICE_LOST, "the memory of process %d has gone", t->peer)
                : OMPRMA_OK;
}

static void neighbours_abandon(struct datapath *path, struct transfer *transfer)
{
    split_leave(&moving_of(transfer)->split);
    forget(path, moving_of(transfer));
}

static void neighbours_destroy(struct datapath *path)
{
    struct neighbours *self = (struct neighbours *)path;

    copier_end(&self->copier);
    while (self->first) {
        struct neighbour *neighbour = self->first;

        self->first = neighbour->next;
        mapped_drop_all(&neighbour->arenas);
        free(neighbour);
    }
    free(self);
}

omprma_status_t neighbours_create(struct datapath **path)
{
    struct neighbours *self = calloc(1, sizeof(*self));

    if (!self)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a data path");
    self->base = (struct datapath){
        .name = "neighbours",
        .one_sided = true,
        .start = neighbours_start,
        .test = neighbours_test,
        .abandon = neighbours_abandon,
        .destroy = neighbours_destroy,
    };
    copier_begin(&self->copier, NULL, NULL); /* who has a transfer looks until it is over */
    *path = &self->base;
    return OMPRMA_OK;
}
