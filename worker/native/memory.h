/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.h: the arenas of a native device: mapped near its cores, attached to the one-sided path,
 * counted against the limits. Which parts of them are in use only the application knows.
 *
 * Thread: with the server's lock held (the path is not for several threads).
 */
#ifndef OMPRMA_WORKER_MEMORY_H
#define OMPRMA_WORKER_MEMORY_H

#include <stdbool.h>
#include <omprma/omprma.h>

#include "control/datapath.h"
#include "control/wire.h"
#include "worker/native/place.h"
#include "worker/quota.h"

struct memory {
    struct datapath *path; /* NULL: nothing to attach to. Outlives the arenas */
    const struct place *place;
    bool huge_pages;
    bool shared; /* arenas lie in files that the program can map */
    struct quota
        *quota; /* with other programs; NULL: the memory is this one's alone. Outlives it */
    uint64_t quota_bytes;             /* of all programs together */
    uint64_t limit_bytes, used_bytes; /* of this one */
    int count;
    struct memory_arena {
        uint64_t base, bytes;
        struct place_file file;
    } arenas[WIRE_ARENAS_MOST];
};

/* Maps and attaches an arena of `bytes` (a multiple of 4096) that begins at `wish`, or anywhere
 * (0). Errors: ADDRESS (it cannot begin there), DEVICE_MEMORY (the limit, the system or the number
 * of attached regions), MPI. */
omprma_status_t memory_grow(struct memory *memory, uint64_t bytes, uint64_t wish, uint64_t *base);

/* Detaches and unmaps. Errors: ADDRESS. */
omprma_status_t memory_release(struct memory *memory, uint64_t base);

/* True if [address, address + bytes) lies inside one arena. */
bool memory_holds(const struct memory *memory, uint64_t address, uint64_t bytes);

/* What opens the file of the arena that begins there. pid 0: there is none. */
struct shm_address memory_file(const struct memory *memory, uint64_t base);

/* Releases all arenas. */
void memory_close(struct memory *memory);

#endif
