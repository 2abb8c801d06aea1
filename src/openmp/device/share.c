/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * share.c: Ranges of up to SHARE_BYTES get a part of a block of 8 KiB, one behind the other;
 * larger ones get memory of their own. Parts are not given back one by one: a block counts its
 * ranges, and when the last one leaves it is filled again from its beginning, or is freed if
 * another one is being filled. A range keeps the host's address modulo SHARE_ALIGNMENT.
 */
#include "openmp/device/share.h"

#include <stdlib.h>

#include "openmp/site/loss.h"
#include "openmp/site/place.h"
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

static bool memory_give(struct shares *shares, const struct location *where, omprma_addr_t begin)
{
    place_say(where, NULL);
    return site_is_lost(shares->site) ||
           report_status(where, omprma_free(shares->site->remote, begin));
}

static void block_spare(struct shares *shares, struct block *block)
{
    block->next = shares->spare;
    shares->spare = block;
}

static bool block_give(struct shares *shares, const struct location *where, struct block *block)
{
    block_spare(shares, block);
    return memory_give(shares, where, block->begin);
}

/* Gives back what is kept for ranges that may come. False: there was nothing. */
static bool memory_make(struct shares *shares)
{
    struct block *present = shares->present;
    bool any = shares->vacate(shares->owner);
    if (!present || present->ranges > 0)
        return any;
    shares->present = NULL;
    return block_give(shares, NULL, present);
}

omprma_status_t share_take_other(struct shares *shares, size_t bytes, omprma_addr_t *begin)
{
    omprma_status_t status = omprma_alloc(shares->site->remote, bytes, begin);
    if (status == OMPRMA_ERR_DEVICE_MEMORY && memory_make(shares))
        status = omprma_alloc(shares->site->remote, bytes, begin);
    return status;
}

static bool memory_take(struct shares *shares, const struct location *where, uintptr_t host,
                        size_t bytes, omprma_addr_t *begin)
{
    omprma_status_t status = omprma_alloc_like(shares->site->remote, bytes, (void *)host, begin);
    if (status == OMPRMA_ERR_DEVICE_MEMORY && memory_make(shares))
        status = omprma_alloc_like(shares->site->remote, bytes, (void *)host, begin);
    return loss_status(where, shares->site, status);
}

static struct block *block_make(struct shares *shares, const struct location *where)
{
    struct block *block = shares->spare;
    omprma_addr_t begin;
    if (!block && !(block = calloc(1, sizeof(*block)))) {
        report(where, shares->site, "no host memory for a list of mapped ranges");
        return NULL;
    }
    shares->spare = block->next;
    if (!memory_take(shares, where, 0, BLOCK_BYTES, &begin)) {
        block_spare(shares, block);
        return NULL;
    }
    *block = (struct block){.begin = begin};
    shares->present = block;
    return block;
}

/* The present one stays, for the next ranges. */
static bool block_leave(struct shares *shares, const struct location *where, struct block *block)
{
    if (--block->ranges > 0)
        return true;
    block->used = 0;
    if (block == shares->present)
        return true;
    return block_give(shares, where, block);
}

void shares_init(struct shares *shares, struct site *site, bool (*vacate)(void *owner), void *owner)
{
    *shares = (struct shares){.site = site, .vacate = vacate, .owner = owner};
}

/* ---- shares --------------------------------------------------------------------------------- */

static bool take_whole(struct shares *shares, const struct location *where, const char *name,
                       uintptr_t host, size_t bytes, struct share *share)
{
    place_say(where, name);
    if (!memory_take(shares, where, host, bytes, &share->begin))
        return false;
    share->device = share->begin;
    share->block = NULL;
    return true;
}

bool share_take(struct shares *shares, const struct location *where, const char *name,
                uintptr_t host, size_t bytes, struct share *share)
{
    struct block *block = shares->present;
    if (bytes > SHARE_BYTES || place_wanted)
        return take_whole(shares, where, name, host, bytes, share);
    if (!block || block->used + SHARE_ALIGNMENT + bytes > BLOCK_BYTES)
        block = block_make(shares, where);
    if (!block)
        return false;
    share->block = block;
    share->begin = block->begin + block->used;
    share->device = share->begin + (host - share->begin) % SHARE_ALIGNMENT;
    block->used = share->device + bytes - block->begin;
    block->ranges++;
    return true;
}

bool share_follows(const struct share *share, omprma_addr_t end)
{
    return share->begin == end || share->begin == share->block->begin;
}

bool share_give(struct shares *shares, const struct location *where, const struct share *share)
{
    if (share->block)
        return block_leave(shares, where, share->block);
    return share->begin == 0 || memory_give(shares, where, share->begin);
}
