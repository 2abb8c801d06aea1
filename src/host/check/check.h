/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * check.h: OMPRMA_CHECK=full: the books of a device's blocks: where each was allocated and freed,
 * and which kernel was given it last; what an address or a launch's argument is by them. It moves
 * nothing itself, but orders queues. Red zones and what lies in blocks are the business of
 * redzones.h. device->check is NULL when it is off, and nothing here is called then.
 *
 * Thread: with runtime->lock held. Blocks: no.
 */
#ifndef OMPRMA_HOST_CHECK_CHECK_H
#define OMPRMA_HOST_CHECK_CHECK_H

#include <bsd/sys/tree.h>

#include "host/check/origin.h"
#include "host/core/device.h"

struct look;
struct omprma_queue;
struct retired;

enum check_state {
    CHECK_LIVE,
    CHECK_FREED,  /* operations may still use it */
    CHECK_LOOKED, /* its zones are being read, and its memory is poisoned */
    CHECK_KEPT,   /* kept from being handed out again, so that late use shows */
    CHECK_LEAVING /* it is read once more */
};

struct check_block {
    RB_ENTRY(check_block) link;
    struct check_block *next; /* in a list of those that were freed */
    enum check_state state;
    uint64_t number;          /* never the same again */
    omprma_addr_t raw, begin; /* the allocator's block, the caller's */
    uint64_t raw_bytes, bytes;
    struct origin made, freed;
    omprma_addr_t kernel;   /* the last one that had it among its arguments; 0: none */
    struct retired *before; /* what was under way when it was freed */
    struct look *look;      /* what is being read of it */
};
RB_HEAD(check_tree, check_block);

struct check {
    struct check_tree blocks;         /* live, and freed but not given back */
    struct check_block *first, *last; /* the freed ones, in the order of their freeing */
    struct check_block *fresh;        /* the first one of them that is not kept yet */
    uint64_t kept_bytes;
    uint32_t kept;
    struct check_block *past, *past_last; /* given back: the last ones, to tell what was there */
    uint32_t past_count;
    struct omprma_queue *queue; /* its own transfers */
    bool crashed;               /* a kernel has: the worker may serve no queue any more */
};

/* The block that an address lies in or in whose zones, live or not; NULL: none. */
struct check_block *check_find(const struct check *check, omprma_addr_t address);

/* All of them, ascending; of NULL the first one. NULL: the end. */
struct check_block *check_next(const struct check *check, struct check_block *block);

void check_insert(struct check *check, struct check_block *block);

/* It is freed for the program. */
void check_free(struct check *check, struct check_block *block);

/* It is given back: only its story stays, for a while. */
void check_past(struct check *check, struct check_block *block);

/* Frees all. */
void check_close(struct device *device);

/* "block of 400 bytes at 0x7f00 (allocated for "x" at a.c:12, freed at a.c:40)" */
enum { CHECK_WORDS = 1024 };
const char *check_words(const struct check_block *block, char words[CHECK_WORDS]);

/* allocator_classify() as the caller of omprma_alloc() knows blocks. */
enum allocator_range check_classify(struct device *device, omprma_addr_t address, uint64_t bytes,
                                    omprma_addr_t *block, uint64_t *block_bytes);

/* Orders a queue behind what is being written into new blocks of `device`. Errors: HOST_MEMORY. */
omprma_status_t check_order(struct omprma_queue *queue, struct device *device);

/* A launch that is about to be appended. Which of its arguments point to memory that was freed, or
 * to that of another device? They are words of 64 bits, or a block of parameters that is looked at
 * in such words. */
void check_launch(struct device *device, omprma_addr_t kernel, const void *arguments, size_t bytes);

#endif
