/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mapped.c: a sorted list, since most transfers look it up. */
#include "control/shm/mapped.h"

#include <errno.h>
#include <string.h>

#include "control/shm/arena.h"

/* How many begin there or below. */
static int count_below(const struct mapped_arenas *arenas, uint64_t address)
{
    int low = 0, high = arenas->count;

    while (low < high) {
        int middle = (low + high) / 2;

        if (arenas->all[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct mapped_arenas *arenas, struct arena *arena)
{
    int at = count_below(arenas, arena->base);

    memmove(&arenas->all[at + 1], &arenas->all[at],
            (size_t)(arenas->count - at) * sizeof(arenas->all[0]));
    arenas->all[at] = arena;
    arenas->count++;
}

bool mapped_add(struct mapped_arenas *arenas, const struct shm_address *file, uint64_t base,
                uint64_t bytes)
{
    struct arena *arena = NULL;

    errno = ENOSPC;
    if (arenas->count < WIRE_ARENAS_MOST)
        arena = arena_open(file, base, bytes);
    if (arena)
        insert(arenas, arena);
    return arena != NULL;
}

void mapped_drop(struct mapped_arenas *arenas, uint64_t base)
{
    int at = count_below(arenas, base) - 1;

    if (at < 0 || arenas->all[at]->base != base)
        return;
    arena_close(arenas->all[at]);
    arenas->count--;
    memmove(&arenas->all[at], &arenas->all[at + 1],
            (size_t)(arenas->count - at) * sizeof(arenas->all[0]));
}

void mapped_drop_all(struct mapped_arenas *arenas)
{
    while (arenas->count)
        arena_close(arenas->all[--arenas->count]);
}

const struct arena *mapped_find(const struct mapped_arenas *arenas, uint64_t address,
                                uint64_t bytes)
{
    int below = count_below(arenas, address);
    const struct arena *arena = below ? arenas->all[below - 1] : NULL;

    return arena_holds(arena, address, bytes) ? arena : NULL;
}
