/*
 * writes.h: the device ranges of small submits that travel in messages of one queue and are not
 * known to be executed. A one-sided transfer that touches one of them must wait. Bounded: when it
 * is full, ranges are widened, so that nothing is overlooked.
 * Knows nothing of queues. Thread: serialised by the caller.
 */
#ifndef OMPRMA_HOST_WRITES_H
#define OMPRMA_HOST_WRITES_H

#include <stdbool.h>
#include <omprma/omprma.h>

enum { WRITES_KEPT = 16 };

struct writes {
    uint32_t count;
    struct writes_range {
        omprma_addr_t begin, end;
        uint64_t op;
        bool widened;     /* stands for earlier operations too */
    } range[WRITES_KEPT]; /* by op, oldest first */
};

/* Forgets what operation `done` and earlier ones wrote. */
static inline void writes_prune(struct writes *writes, uint64_t done)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < writes->count; i++)
        if (writes->range[i].op > done)
            writes->range[kept++] = writes->range[i];
    writes->count = kept;
}

/* Adds [begin, end), written by operation `op`; earlier ones up to `done` are executed. */
static inline void writes_add(struct writes *writes, omprma_addr_t begin, omprma_addr_t end,
                              uint64_t op, uint64_t done)
{
    struct writes_range *last;

    if (writes->count == WRITES_KEPT)
        writes_prune(writes, done);
    if (writes->count < WRITES_KEPT) {
        writes->range[writes->count++] = (struct writes_range){begin, end, op, false};
        return;
    }
    last = &writes->range[WRITES_KEPT - 1];
    last->begin = begin < last->begin ? begin : last->begin;
    last->end = end > last->end ? end : last->end;
    last->op = op;
    last->widened = true;
}

/* True if an operation after `from`, up to and including `to`, writes into [begin, end). */
static inline bool writes_meet(const struct writes *writes, omprma_addr_t begin, omprma_addr_t end,
                               uint64_t from, uint64_t to)
{
    for (uint32_t i = 0; i < writes->count; i++) {
        const struct writes_range *range = &writes->range[i];

        if (range->begin < end && begin < range->end && range->op > from &&
            (range->widened || range->op <= to))
            return true;
    }
    return false;
}

/* Operations after `sent` were never sent: their ranges are as good as executed. */
static inline void writes_forget(struct writes *writes, uint64_t sent)
{
    while (writes->count && writes->range[writes->count - 1].op > sent) {
        if (writes->range[writes->count - 1].widened) { /* some of it was sent */
            writes->range[writes->count - 1].op = sent;
            return;
        }
        writes->count--;
    }
}

#endif
