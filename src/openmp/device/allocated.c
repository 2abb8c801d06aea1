/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* allocated.c: a block stands in its table at its own address, and no count takes it out. */
#include "openmp/device/allocated.h"

static void nothing_given(void *space, const struct suballoc *part)
{
    (void)space, (void)part;
}

void allocated_begin(struct space *space)
{
    mapping_init(&space->blocks, nothing_given, space);
    space->freed = (struct mapped){.begin = 1, .references = COUNT_INFINITE};
}

bool allocated_add(struct space *space, omprma_addr_t begin, size_t bytes)
{
    struct mapped *block = mapping_add(&space->blocks, begin, bytes, begin, false);
    if (!block)
        return false;
    block->references = COUNT_INFINITE;
    block->blank = true;
    block->present = block->settled = UINT64_MAX >> (SITES_MOST - space->sites);
    return true;
}

void allocated_remove(struct space *space, omprma_addr_t begin)
{
    struct mapped *block = allocated_at(space, begin);
    struct pinned *each;
    if (!block || block->begin != begin)
        return;
    while ((each = LIST_FIRST(&block->pins))) {
        LIST_REMOVE(each, link);
        each->mapped = &space->freed;
        LIST_INSERT_HEAD(&space->freed.pins, each, link);
    }
    mapping_remove(&space->blocks, block);
}

struct mapped *allocated_at(struct space *space, omprma_addr_t address)
{
    struct mapped *block;
    return mapping_find(&space->blocks, address, 1, &block) == OVERLAP_NONE ? NULL : block;
}

struct mapped *range_of_address(struct space *space, omprma_addr_t address)
{
    struct mapped *block = allocated_at(space, address);
    return block ? block : mapping_of_device(&space->mapping, address);
}
