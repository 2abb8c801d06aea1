/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * arena.h: memory of one process, an arena, that another one of the host and user maps as well, so
 * that it copies to it and from it by itself. Knows nothing of devices.
 *
 * Thread: no shared state; any number may copy at the same time. Blocks: arena_share(), see
 * huge_file.h; arena_copy(), for as long as a copy takes.
 */
#ifndef OMPRMA_CONTROL_SHM_ARENA_H
#define OMPRMA_CONTROL_SHM_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <omprma/omprma.h>

#include "control/datapath.h"
#include "control/shm/memory.h"

/* Puts a file behind whole pages at `at`, the beginning of a huge page of anonymous memory of this
 * process that nothing was written to, and which ends with 8 bytes that are not used for anything
 * else. Returns the file, and in *address what others need to open it. -1 with errno set: the
 * memory is as it was. ENOTSUP: the system promises no more memory than it has
 * (vm.overcommit_memory is 2), but promises nothing of files. */
int arena_share(void *at, size_t bytes, struct shm_address *address);

/* Makes the memory anonymous again, empty, and closes the file. */
void arena_unshare(void *at, size_t bytes, int file);

/* An arena of another process, as this one has it. */
struct arena {
    struct shm_address address; /* what opens it */
    uint64_t base, bytes;       /* there */
    char *at;                   /* here */
    void *mapped;               /* around it */
    size_t mapped_bytes;
    int file;
    _Atomic(bool) *filled; /* huge pages that were written as a whole from here */
};

enum { ARENA_HUGE_PAGE = 2 << 20 };

/* Maps `bytes` of what arena_share() has made of memory at `base` there. NULL: it is on another
 * host, or cannot be opened or mapped; errno says why. */
struct arena *arena_open(const struct shm_address *address, uint64_t base, uint64_t bytes);
void arena_close(struct arena *arena); /* NULL is allowed */

/* Also for no arena. */
static inline bool arena_holds(const struct arena *arena, uint64_t address, uint64_t bytes)
{
    uint64_t offset = arena ? address - arena->base : 0;

    return arena && offset <= arena->bytes && bytes <= arena->bytes - offset;
}

/* Copies between memory of this process and a range that it holds; `out`: to it. `stream`: past the
 * caches, for what they would not hold. */
void arena_copy(const struct arena *arena, bool out, void *here, uint64_t there, uint64_t bytes,
                bool stream);

/* Where an address in the other process is in this one, which holds it. */
static inline char *arena_here(const struct arena *arena, uint64_t there)
{
    return arena->at + (there - arena->base);
}

/* Bytes of the piece of a transfer that begins at `at` of it, where the arena holds all of that: at
 * most so many, up to the end of a huge page; all of a huge page that is written for the first
 * time, for that need not be zeroed before. 0: there is none any more. */
uint64_t arena_piece(const struct arena *arena, const struct transfer *transfer, uint64_t at,
                     uint64_t most);
void arena_copy_piece(const struct arena *arena, const struct transfer *transfer, uint64_t at,
                      uint64_t piece);

/* Copies the next piece. True: that was the last one. */
bool arena_move(const struct arena *arena, struct transfer *transfer);

#endif
