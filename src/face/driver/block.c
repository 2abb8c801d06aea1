/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * block.c: a tree by address under one lock. Blocks do not overlap, so the block that an address
 * lies in is the last one that begins at or before it. Callers get copies.
 */
#include "face/driver/block.h"

#include <stdlib.h>

static int block_compare(const struct block *a, const struct block *b)
{
    return a->address < b->address ? -1 : a->address > b->address;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* each tree uses some of them */
RB_GENERATE_INTERNAL(block_tree, block, link, block_compare, static)
#pragma GCC diagnostic pop

/* Sizes that are multiples of the alignment leave the next block aligned, so this is seldom more
 * than one try. */
omprma_status_t block_alloc(int device, size_t bytes, size_t alignment, struct block *block)
{
    size_t whole = (bytes + alignment - 1) / alignment * alignment;
    omprma_status_t status = omprma_alloc(device, whole, &block->given);

    if (status == OMPRMA_OK && block->given % alignment != 0) {
        omprma_free(device, block->given);
        status = omprma_alloc(device, whole + alignment, &block->given);
    }
    block->address = (block->given + alignment - 1) / alignment * alignment;
    block->bytes = bytes;
    return status;
}

void blocks_open(struct blocks *blocks)
{
    pthread_mutex_init(&blocks->lock, NULL);
    RB_INIT(&blocks->tree);
}

/* The last one that begins at or before the address; NULL: none. Under the lock. */
static struct block *block_before(struct blocks *blocks, omprma_addr_t address)
{
    struct block key = {.address = address};
    struct block *found = RB_NFIND(block_tree, &blocks->tree, &key);

    if (found && found->address == address)
        return found;
    return found ? RB_PREV(block_tree, &blocks->tree, found) : RB_MAX(block_tree, &blocks->tree);
}

/* One without bytes overlaps one that begins at the same address. Under the lock. */
static bool overlaps(struct blocks *blocks, const struct block *block)
{
    omprma_addr_t last = block->address + (block->bytes ? block->bytes - 1 : 0);
    const struct block *before = block_before(blocks, last);

    return before &&
           (before->address >= block->address || block->address - before->address < before->bytes);
}

enum block_result blocks_add(struct blocks *blocks, const struct block *block)
{
    struct block *kept = malloc(sizeof(*kept));

    if (!kept)
        return BLOCK_NO_MEMORY;
    *kept = *block;
    pthread_mutex_lock(&blocks->lock);
    bool there = overlaps(blocks, block);
    if (!there)
        RB_INSERT(block_tree, &blocks->tree, kept);
    pthread_mutex_unlock(&blocks->lock);
    if (there)
        free(kept);
    return there ? BLOCK_OVERLAPS : BLOCK_ADDED;
}

bool blocks_find(struct blocks *blocks, omprma_addr_t address, struct block *block)
{
    pthread_mutex_lock(&blocks->lock);
    const struct block *found = block_before(blocks, address);
    bool inside = found && address - found->address < found->bytes;
    if (inside)
        *block = *found;
    pthread_mutex_unlock(&blocks->lock);
    return inside;
}

bool blocks_overlap(struct blocks *blocks, omprma_addr_t address, size_t bytes)
{
    const struct block range = {.address = address, .bytes = bytes};

    pthread_mutex_lock(&blocks->lock);
    bool there = overlaps(blocks, &range);
    pthread_mutex_unlock(&blocks->lock);
    return there;
}

/* Under the lock. */
static bool block_remove(struct blocks *blocks, struct block *found, struct block *block)
{
    if (found) {
        RB_REMOVE(block_tree, &blocks->tree, found);
        *block = *found;
        free(found);
    }
    return found != NULL;
}

bool blocks_take(struct blocks *blocks, omprma_addr_t address, const void *part_of,
                 struct block *block)
{
    struct block key = {.address = address};

    pthread_mutex_lock(&blocks->lock);
    struct block *found = RB_FIND(block_tree, &blocks->tree, &key);
    if (found && found->part_of != part_of)
        found = NULL;
    bool taken = block_remove(blocks, found, block);
    pthread_mutex_unlock(&blocks->lock);
    return taken;
}

bool blocks_take_any(struct blocks *blocks, const void *owner, const void *part_of,
                     struct block *block)
{
    struct block *each = NULL;

    pthread_mutex_lock(&blocks->lock);
    RB_FOREACH(each, block_tree, &blocks->tree)
    {
        if (each->owner == owner && each->part_of == part_of)
            break;
    }
    bool taken = block_remove(blocks, each, block);
    pthread_mutex_unlock(&blocks->lock);
    return taken;
}
