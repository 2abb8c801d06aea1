/*
 * writes.h: the device ranges of small submits that travel in messages of one queue and are not
 * known to be executed. A one-sided transfer that touches one of them must wait.
 * Knows nothing of queues. Thread: serialised by the caller.
 *
 * What was not sent yet is kept range by range: a transfer that is put before it in the queue must
 * never wait for it by mistake, because it waits for the transfer. What was sent will be executed
 * whatever else happens, so many of those ranges may be merged into a wider one: a transfer that
 * then waits for nothing waits a little too long.
 */
#ifndef OMPRMA_HOST_WRITES_H
#define OMPRMA_HOST_WRITES_H

#include <stdbool.h>
#include <stdlib.h>
#include <omprma/omprma.h>

enum { WRITES_KEPT = 64 /* from so many on, ranges that were sent are merged */ };

struct writes {
    uint32_t count, capacity;
    struct writes_range {
        omprma_addr_t begin, end;
        uint64_t op; /* the operation that writes it; of a merged one, the last of them */
    } * range;       /* by op, oldest first */
};

/* Forgets what operation `done` and earlier ones wrote. */
static inline void writes_prune(struct writes *writes, uint64_t done)
{
    uint32_t first = 0, kept = 0;

    while (first < writes->count && writes->range[first].op <= done)
        first++;
    if (first == 0)
        return;
    while (first < writes->count)
        writes->range[kept++] = writes->range[first++];
    writes->count = kept;
}

/* Merges neighbours among the ranges of operations up to `sent`: half of them go. */
static inline void writes_merge(struct writes *writes, uint64_t sent)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < writes->count; i++) {
        struct writes_range next = writes->range[i];

        if (i + 1 < writes->count && writes->range[i + 1].op <= sent) {
            const struct writes_range *other = &writes->range[++i];

            next.begin = other->begin < next.begin ? other->begin : next.begin;
            next.end = other->end > next.end ? other->end : next.end;
            next.op = other->op;
        }
        writes->range[kept++] = next;
    }
    writes->count = kept;
}

/* Makes room for another range. Operations up to `done` are executed, those up to `sent` were sent.
 * False: no memory. */
static inline bool writes_reserve(struct writes *writes, uint64_t done, uint64_t sent)
{
    struct writes_range *range;
    uint32_t capacity;

    if (writes->count < writes->capacity)
        return true;
    if (writes->count >= WRITES_KEPT) {
        writes_prune(writes, done);
        if (writes->count >= WRITES_KEPT)
            writes_merge(writes, sent);
        if (writes->count < writes->capacity)
            return true;
    }
    capacity = writes->capacity ? 2 * writes->capacity : WRITES_KEPT / 4;
    range = realloc(writes->range, capacity * sizeof(*range));
    if (!range)
        return false;
    writes->range = range;
    writes->capacity = capacity;
    return true;
}

/* Adds [begin, end), written by operation `op`, the latest so far. Room was reserved. */
static inline void writes_add(struct writes *writes, omprma_addr_t begin, omprma_addr_t end,
                              uint64_t op)
{
    writes->range[writes->count++] = (struct writes_range){begin, end, op};
}

/* True if an operation after `from`, up to and including `to`, writes into [begin, end). */
static inline bool writes_meet(const struct writes *writes, omprma_addr_t begin, omprma_addr_t end,
                               uint64_t from, uint64_t to)
{
    for (uint32_t i = writes->count; i > 0 && writes->range[i - 1].op > from; i--) {
        const struct writes_range *range = &writes->range[i - 1];

        if (range->op <= to && range->begin < end && begin < range->end)
            return true;
    }
    return false;
}

/* Operations after `sent` were never sent and will not be. */
static inline void writes_forget(struct writes *writes, uint64_t sent)
{
    while (writes->count && writes->range[writes->count - 1].op > sent)
        writes->count--;
}

static inline void writes_free(struct writes *writes)
{
    free(writes->range);
    *writes = (struct writes){0};
}

#endif
