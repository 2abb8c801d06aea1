/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * allocator.h: who owns which range of one worker's arenas. All bookkeeping is in the application's
 * memory; device memory is never touched, so alloc and free are local operations. Two-level
 * segregated fit (constant time) for the free blocks, and a hierarchical bitmap over 64-byte
 * granules that answers "which live block holds this address" in constant time.
 * Knows nothing of MPI: arenas are given to it and taken from it by its owner.
 *
 * Thread: calls on one allocator must be serialised by the caller. Blocks: never.
 */
#ifndef OMPRMA_HOST_MEMORY_ALLOCATOR_H
#define OMPRMA_HOST_MEMORY_ALLOCATOR_H

#include <stdbool.h>
#include <omprma/omprma.h>

struct allocator;

enum {
    ALLOCATOR_GRANULE = 64,
    ALLOCATOR_LARGE = 64 << 10, /* larger blocks take whole pages, */
    ALLOCATOR_PAGE = 4096       /* so that they fit together again */
};

/* Where a block is to begin: at an address that is `residue` modulo `alignment`, which is
 * ALLOCATOR_GRANULE or ALLOCATOR_PAGE. */
struct fit {
    uint64_t alignment, residue;
};

/* For blocks that are like nothing else. */
static inline struct fit fit_plain(uint64_t bytes)
{
    return (struct fit){bytes >= ALLOCATOR_LARGE ? ALLOCATOR_PAGE : ALLOCATOR_GRANULE, 0};
}

/* For the copy of what begins at `address` elsewhere. */
static inline struct fit fit_like(uint64_t address, uint64_t bytes)
{
    uint64_t alignment = bytes >= ALLOCATOR_PAGE ? ALLOCATOR_PAGE : ALLOCATOR_GRANULE;
    return (struct fit){alignment, address & (alignment - 1)};
}

/* What a range is to the allocator. */
enum allocator_range {
    RANGE_LIVE,    /* inside one live block */
    RANGE_OVERRUN, /* starts in a live block and runs past its end */
    RANGE_FREE,    /* touches an arena, but starts in no live block */
    RANGE_OUTSIDE  /* touches no arena */
};

struct allocator_usage {
    uint64_t arenas, arena_bytes, blocks;
    uint64_t used_bytes, peak_bytes; /* with padding: what others cannot have */
};

/* NULL when malloc fails. */
struct allocator *allocator_create(void);
void allocator_destroy(struct allocator *allocator);

/* Adds [base, base + bytes): base is a multiple of 4096, bytes too. Arenas must not overlap (they
 * may be adjacent; a block never spans two). Errors: ARGUMENT, HOST_MEMORY. */
omprma_status_t allocator_add_arena(struct allocator *allocator, omprma_addr_t base,
                                    uint64_t bytes);

/* Takes an arena without live blocks away. Errors: ARGUMENT (unknown, or not empty). */
omprma_status_t allocator_remove_arena(struct allocator *allocator, omprma_addr_t base);

/* The base of an arena that has no live block and may be given back, 0 if there is none. Keeps the
 * first arena that was added, and the largest empty one beside it, so that a program that
 * allocates and frees in a loop does not grow and shrink each time. *bytes is its size. */
omprma_addr_t allocator_empty_arena(const struct allocator *allocator, uint64_t *bytes);

/* Takes a block. Address 0 means that no arena has room: the owner grows one, of
 * fit.residue + bytes, and tries again. `bytes` > 0. What is skipped to make it fit is free for
 * others, but for less than a granule. */
omprma_addr_t allocator_take(struct allocator *allocator, uint64_t bytes, struct fit fit);

/* Gives a block back. *bytes, if not NULL, is what was asked for. Errors: ADDRESS; the text tells
 * a double free from an address inside a block from a foreign one. */
omprma_status_t allocator_give(struct allocator *allocator, omprma_addr_t address, uint64_t *bytes);

/* Classifies [address, address + bytes), bytes > 0; ranges that wrap around are OVERRUN (of block 0
 * if they start in none). For LIVE and OVERRUN, *block and *block_bytes (either may be NULL)
 * describe the block; block_bytes is what was asked for, without padding. */
enum allocator_range allocator_classify(const struct allocator *allocator, omprma_addr_t address,
                                        uint64_t bytes, omprma_addr_t *block,
                                        uint64_t *block_bytes);

void allocator_usage(const struct allocator *allocator, struct allocator_usage *usage);

/* Walks all structures and compares them; for tests. False and a line in `why` if they disagree. */
bool allocator_verify(const struct allocator *allocator, char *why, size_t why_bytes);

#endif
