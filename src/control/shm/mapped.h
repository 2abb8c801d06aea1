/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mapped.h: arenas of another process that this one has mapped, too (arena.h), so that it copies to
 * them and from them by itself. Those on another host, or whose files cannot be opened, are none of
 * these: their data goes by other paths.
 *
 * Thread: one at a time for each list. Blocks: no.
 */
#ifndef OMPRMA_CONTROL_SHM_MAPPED_H
#define OMPRMA_CONTROL_SHM_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "control/shm/memory.h"
#include "control/wire.h"

struct arena;

struct mapped_arenas {
    struct arena *all[WIRE_ARENAS_MOST]; /* in the order of their addresses */
    int count;
};

/* Maps the arena of so many bytes that begins there; `file`: what opens it. False, and errno says
 * why: it cannot be mapped. */
bool mapped_add(struct mapped_arenas *arenas, const struct shm_address *file, uint64_t base,
                uint64_t bytes);

/* Unmaps the one that begins there, if any; all of them. No copy is under way. */
void mapped_drop(struct mapped_arenas *arenas, uint64_t base);
void mapped_drop_all(struct mapped_arenas *arenas);

/* The one that holds [address, address + bytes), or NULL. It stays until it is dropped. */
const struct arena *mapped_find(const struct mapped_arenas *arenas, uint64_t address,
                                uint64_t bytes);

#endif
