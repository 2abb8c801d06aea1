/*
 * memory.h: the arenas of a worker: mapped near its cores, attached to the window, counted against
 * the limits. Which parts of them are in use only the application knows.
 *
 * Thread: with the server's lock held (attaching calls MPI).
 */
#ifndef OMPRMA_WORKER_MEMORY_H
#define OMPRMA_WORKER_MEMORY_H

#include <mpi.h>
#include <stdbool.h>
#include <omprma/omprma.h>

#include "worker/place.h"

enum { MEMORY_ARENAS = 256 };

struct memory {
    MPI_Win window; /* MPI_WIN_NULL: nothing to attach to */
    const struct place *place;
    bool huge_pages;
    int attach_limit;
    uint64_t limit_bytes, used_bytes;
    int count;
    struct memory_arena {
        uint64_t base, bytes;
    } arenas[MEMORY_ARENAS];
};

/* Maps and attaches an arena of `bytes` (a multiple of 4096). Errors: DEVICE_MEMORY (the limit, the
 * system or the number of attached regions), MPI. */
omprma_status_t memory_grow(struct memory *memory, uint64_t bytes, uint64_t *base);

/* Detaches and unmaps. Errors: ADDRESS. */
omprma_status_t memory_release(struct memory *memory, uint64_t base);

/* True if [address, address + bytes) lies inside one arena. */
bool memory_holds(const struct memory *memory, uint64_t address, uint64_t bytes);

/* Releases all arenas. */
void memory_close(struct memory *memory);

#endif
