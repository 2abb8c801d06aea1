/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * host_ranges.h: memory of this process that the operations of a queue use: what they fill, and
 * what transfers with a command read. Nothing else keeps those in order with what is appended, so
 * whoever appends asks.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_QUEUE_HOST_RANGES_H
#define OMPRMA_HOST_QUEUE_HOST_RANGES_H

#include <bsd/sys/tree.h>

#include "host/core/operation.h"

RB_HEAD(host_range_tree, host_range);
LIST_HEAD(host_range_list, operation);

/* An empty one is zero. */
struct host_ranges {
    uint32_t count;                 /* of operations */
    uint64_t begin, end;            /* none of their memory lies outside of this */
    struct host_range_list waiting; /* operations that are not in the tree */
    struct host_range_tree tree;    /* what others fill */
};

/* An operation has its memory and is in the queue's list from now on; it goes. Those without memory
 * that matters are left out. */
void host_ranges_add(struct host_ranges *ranges, struct operation *operation);
void host_ranges_remove(struct host_ranges *ranges, struct operation *operation);

/* True if [begin, begin + bytes) overlaps memory that an operation will fill or, if it is to be
 * filled itself (`fill`), that one still reads. */
bool host_ranges_meet(struct host_ranges *ranges, uint64_t begin, uint64_t bytes, bool fill);

#endif
