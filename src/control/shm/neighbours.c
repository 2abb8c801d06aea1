/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * neighbours.c: a list of peers, each with its arenas. A transfer looks its arena up for each
 * piece: one that has gone meanwhile is not used.
 */
#include "control/shm/neighbours.h"

#include <stdlib.h>

#include "base/error.h"
#include "control/shm/arena.h"
#include "control/shm/mapped.h"

struct neighbour {
    struct neighbour *next;
    int rank;
    struct mapped_arenas arenas;
};

struct neighbours {
    struct datapath base;
    struct neighbour *first;
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

void neighbours_drop(struct datapath *path, int rank, uint64_t base)
{
    struct neighbour *neighbour = find(path, rank);

    if (neighbour)
        mapped_drop(&neighbour->arenas, base);
}

void neighbours_drop_all(struct datapath *path, int rank)
{
    struct neighbour *neighbour = find(path, rank);

    if (neighbour)
        mapped_drop_all(&neighbour->arenas);
}

bool neighbours_hold(const struct datapath *path, int rank, uint64_t address, uint64_t bytes)
{
    return arena_of(path, rank, address, bytes) != NULL;
}

/* ---- transfers ---- */

static omprma_status_t neighbours_start(struct datapath *path, struct transfer *transfer)
{
    (void)path;
    (void)transfer;
    return OMPRMA_OK;
}

static omprma_status_t neighbours_test(struct datapath *path, struct transfer *t, bool *done)
{
    const struct arena *arena = arena_of(path, t->peer, t->remote, t->bytes);

    if (!arena)
        return error_set(OMPRMA_ERR_DEVICE_LOST, "the memory of process %d has gone", t->peer);
    *done = arena_move(arena, t);
    return OMPRMA_OK;
}

static void neighbours_destroy(struct datapath *path)
{
    struct neighbours *self = (struct neighbours *)path;

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
        .destroy = neighbours_destroy,
    };
    *path = &self->base;
    return OMPRMA_OK;
}
