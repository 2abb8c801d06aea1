/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * suballoc.c: Ranges of up to SUBALLOC_BYTES get a part of a block of 8 KiB, one behind the other;
 * larger ones get memory of their own. Parts are not given back one by one: a block counts its
 * ranges, and when the last one leaves it is filled again from its beginning, or is freed if
 * another one is being filled. A range keeps the host's address modulo SUBALLOC_ALIGNMENT.
 */
#include "openmp/device/suballoc.h"

#include <stdlib.h>

#include "openmp/site/loss.h"
#include "openmp/site/origin.h"
#include "openmp/site/report.h"
#include "openmp/site/site.h"

enum { BLOCK_BYTES = 8192 };

struct block {
    struct block *next; /* spare */
    omprma_addr_t begin;
    size_t used;   /* from its beginning on */
    size_t ranges; /* that have a part of it */
};

/* ---- blocks --------------------------------------------------------------------------------- */

static bool memory_give(struct suballocator *memory, const struct location *where,
                        omprma_addr_t begin)
{
    origin_say(where, NULL);
    return (site_is_lost(memory->site) && !memory->site->shares) ||
           report_status(where, omprma_free(memory->site->remote, begin));
}

static void block_spare(struct suballocator *memory, struct block *block)
{
    block->next = memory->spare;
    memory->spare = block;
}

static bool block_give(struct suballocator *memory, const struct location *where,
                       struct block *block)
{
    block_spare(memory, block);
    return memory_give(memory, where, block->begin);
}

/* Gives back what is kept for ranges that may come. False: there was nothing. */
static bool memory_make(struct suballocator *memory)
{
    struct block *present = memory->present;
    bool any = memory->vacate(memory->owner);
    if (!present || present->ranges > 0)
        return any;
    memory->present = NULL;
    return block_give(memory, NULL, present);
}

omprma_status_t suballoc_take_other(struct suballocator *memory, size_t bytes, omprma_addr_t *begin)
{
    omprma_status_t status = omprma_alloc(memory->site->remote, bytes, begin);
    if (status == OMPRMA_ERR_DEVICE_MEMORY && memory_make(memory))
        status = omprma_alloc(memory->site->remote, bytes, begin);
    return status;
}

static bool memory_take(struct suballocator *memory, const struct location *where, uintptr_t host,
                        size_t bytes, omprma_addr_t *begin)
{
    omprma_status_t status = omprma_alloc_like(memory->site->remote, bytes, (void *)host, begin);
    if (status == OMPRMA_ERR_DEVICE_MEMORY && memory_make(memory))
        status = omprma_alloc_like(memory->site->remote, bytes, (void *)host, begin);
    return loss_status(where, memory->site, status);
}

static struct block *block_make(struct suballocator *memory, const struct location *where)
{
    struct block *block = memory->spare;
    omprma_addr_t begin;
    if (!block && !(block = calloc(1, sizeof(*block)))) {
        report(where, memory->site, "no host memory for a list of mapped ranges");
        return NULL;
    }
    memory->spare = block->next;
    if (!memory_take(memory, where, 0, BLOCK_BYTES, &begin)) {
        block_spare(memory, block);
        return NULL;
    }
    *block = (struct block){.begin = begin};
    memory->present = block;
    return block;
}

/* The present one stays, for the next ranges. */
static bool block_leave(struct suballocator *memory, const struct location *where,
                        struct block *block)
{
    if (--block->ranges > 0)
        return true;
    block->used = 0;
    if (block == memory->present)
        return true;
    return block_give(memory, where, block);
}

void suballocator_init(struct suballocator *memory, struct site *site, bool (*vacate)(void *owner),
                       void *owner)
{
    *memory = (struct suballocator){.site = site, .vacate = vacate, .owner = owner};
}

/* ---- parts --------------------------------------------------------------------------------- */

static bool take_whole(struct suballocator *memory, const struct location *where, const char *name,
                       uintptr_t host, size_t bytes, struct suballoc *part)
{
    origin_say(where, name);
    if (!memory_take(memory, where, host, bytes, &part->begin))
        return false;
    part->device = part->begin;
    part->block = NULL;
    return true;
}

bool suballoc_take(struct suballocator *memory, const struct location *where, const char *name,
                   uintptr_t host, size_t bytes, struct suballoc *part)
{
    struct block *block = memory->present;
    if (bytes > SUBALLOC_BYTES || origin_wanted)
        return take_whole(memory, where, name, host, bytes, part);
    if (!block || block->used + SUBALLOC_ALIGNMENT + bytes > BLOCK_BYTES)
        block = block_make(memory, where);
    if (!block)
        return false;
    part->block = block;
    part->begin = block->begin + block->used;
    part->device = part->begin + (host - part->begin) % SUBALLOC_ALIGNMENT;
    block->used = part->device + bytes - block->begin;
    block->ranges++;
    return true;
}

bool suballoc_follows(const struct suballoc *part, omprma_addr_t end)
{
    return part->begin == end || part->begin == part->block->begin;
}

bool suballoc_give(struct suballocator *memory, const struct location *where,
                   const struct suballoc *part)
{
    if (part->block)
        return block_leave(memory, where, part->block);
    return part->begin == 0 || memory_give(memory, where, part->begin);
}
