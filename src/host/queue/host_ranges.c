/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * host_ranges.c: a few operations are walked through. Where there are more, those that fill memory
 * go into a tree when somebody asks, a range for each of their parts, so that constructs with few
 * parts pay nothing for it. No range of the tree meets another one: who would fill the same memory
 * has waited. The rare operation of which that is not so, whose own parts overlap, stays outside,
 * and so do those that read, which are few: they count as entries of the queue, or as messages.
 */
#include "host/queue/host_ranges.h"

#include <stdlib.h>

enum { FEW = 16 /* operations */ };

struct host_range {
    RB_ENTRY(host_range) link;
    uint64_t begin, end;
};

/* Ranges that meet are the same to the tree. */
static int compare(const struct host_range *a, const struct host_range *b)
{
    return a->end <= b->begin ? -1 : b->end <= a->begin;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* the tree uses some of them */
RB_GENERATE_INTERNAL(host_range_tree, host_range, link, compare, static)
#pragma GCC diagnostic pop

static size_t count_of(const struct operation *operation)
{
    return operation->parts ? operation->parts->count : 1;
}

static struct host_range range_of(const struct operation *operation, size_t i)
{
    const omprma_part_t *part = operation->parts ? &operation->parts->part[i] : NULL;
    uint64_t begin = part ? (uint64_t)(uintptr_t)part->to : operation->host_at;

    return (struct host_range){.begin = begin,
                               .end = begin + (part ? part->bytes : operation->host_bytes)};
}

/* What a put reads it reads in order with the gets of its queue. */
static bool matters(const struct operation *operation)
{
    return operation->host_bytes > 0 && (operation->fills_host || operation_has_command(operation));
}

/* ---- the tree ---- */

static void take_out(struct host_ranges *ranges, struct operation *operation, size_t count)
{
    for (size_t i = 0; i < count; i++)
        RB_REMOVE(host_range_tree, &ranges->tree, &operation->ranges[i]);
    free(operation->ranges);
    operation->ranges = NULL;
}

/* It stays among those that wait where its ranges meet others, or there is no memory. */
static void put_in(struct host_ranges *ranges, struct operation *operation)
{
    size_t count = count_of(operation);

    operation->ranges = malloc(count * sizeof(*operation->ranges));
    for (size_t i = 0; operation->ranges && i < count; i++) {
        operation->ranges[i] = range_of(operation, i);
        if (RB_INSERT(host_range_tree, &ranges->tree, &operation->ranges[i]))
            take_out(ranges, operation, i);
    }
    if (operation->ranges)
        LIST_REMOVE(operation, waiting);
    else
        operation->meets_others = true;
}

/* ---- operations ---- */

void host_ranges_add(struct host_ranges *ranges, struct operation *operation)
{
    const struct read_parts *parts = operation->parts;
    uint64_t begin = parts ? parts->begin : operation->host_at;
    uint64_t end = parts ? parts->end : operation->host_at + operation->host_bytes;

    if (!matters(operation))
        return;
    LIST_INSERT_HEAD(&ranges->waiting, operation, waiting);
    if (ranges->count++ == 0) {
        ranges->begin = UINT64_MAX;
        ranges->end = 0;
    }
    if (begin < ranges->begin)
        ranges->begin = begin;
    if (end > ranges->end)
        ranges->end = end;
}

void host_ranges_remove(struct host_ranges *ranges, struct operation *operation)
{
    if (!matters(operation))
        return;
    ranges->count--;
    if (operation->ranges)
        take_out(ranges, operation, count_of(operation));
    else
        LIST_REMOVE(operation, waiting);
}

static bool uses(const struct operation *operation, const struct host_range *range)
{
    for (size_t i = 0; i < count_of(operation); i++) {
        struct host_range own = range_of(operation, i);

        if (compare(&own, range) == 0)
            return true;
    }
    return false;
}

bool host_ranges_meet(struct host_ranges *ranges, uint64_t begin, uint64_t bytes, bool fill)
{
    struct host_range range = {.begin = begin, .end = begin + bytes};
    struct operation *next;

    if (ranges->count == 0 || begin >= ranges->end || range.end <= ranges->begin)
        return false;
    for (struct operation *o = LIST_FIRST(&ranges->waiting); o; o = next) {
        next = LIST_NEXT(o, waiting);
        if ((o->fills_host || fill) && uses(o, &range))
            return true;
        if (o->fills_host && !o->meets_others && ranges->count > FEW)
            put_in(ranges, o);
    }
    return RB_FIND(host_range_tree, &ranges->tree, &range) != NULL;
}
