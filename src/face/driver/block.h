/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * block.h: memory that the program knows by address, and whose it is: blocks of a device, variables
 * of modules that the program has looked up, and host memory that it has pinned. Answers which one
 * an address lies in. Knows nothing of any driver interface.
 *
 * Thread: any. Blocks: no, but block_alloc().
 */
#ifndef OMPRMA_FACE_DRIVER_BLOCK_H
#define OMPRMA_FACE_DRIVER_BLOCK_H

#include <bsd/sys/tree.h>
#include <pthread.h>
#include <stdbool.h>

#include <omprma/omprma.h>

struct block {
    RB_ENTRY(block) link;
    omprma_addr_t address; /* the program's */
    omprma_addr_t given; /* omprma's, if block_alloc() made it; lower by less than the alignment */
    size_t bytes;
    unsigned flags;      /* the library's */
    void *owner;         /* what it ends with, a context */
    const void *part_of; /* what it is a piece of, a module; NULL: it was allocated by itself */
};
RB_HEAD(block_tree, block);

struct blocks {
    pthread_mutex_t lock;
    struct block_tree tree;
};

/* Device memory at a multiple of `alignment`, a power of two. omprma aligns to 64 bytes only. Sets
 * address, given, bytes. Blocks, errors: as omprma_alloc(). */
omprma_status_t block_alloc(int device, size_t bytes, size_t alignment, struct block *block);

void blocks_open(struct blocks *blocks);

enum block_result { BLOCK_ADDED, BLOCK_OVERLAPS, BLOCK_NO_MEMORY };

/* Adds a copy of it, if it overlaps none that is there. */
enum block_result blocks_add(struct blocks *blocks, const struct block *block);

/* The block that the address lies in. False: none. */
bool blocks_find(struct blocks *blocks, omprma_addr_t address, struct block *block);

/* Is any byte of the range in a block? */
bool blocks_overlap(struct blocks *blocks, omprma_addr_t address, size_t bytes);

/* Takes out the one that begins there, if it is a piece of that (NULL: by itself). False: none. */
bool blocks_take(struct blocks *blocks, omprma_addr_t address, const void *part_of,
                 struct block *block);

/* Takes out any one of this owner that is a piece of that (NULL: by itself). False: none is left.
 */
bool blocks_take_any(struct blocks *blocks, const void *owner, const void *part_of,
                     struct block *block);

#endif
