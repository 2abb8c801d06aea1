/* yield.h: giving the processor to whoever else wants it, and noticing who that is.
 *
 * Where a processor is free, polling between yields is the fastest way to wait, and among threads
 * that all yield it still is a good one. Where somebody hogs the processor (libomp's threads do
 * while they wait), a yield lasts as long as their slice, and who sleeps until rung comes back
 * sooner: the scheduler prefers those who have slept.
 */
#ifndef OMPRMA_BASE_YIELD_H
#define OMPRMA_BASE_YIELD_H

#include <sched.h>
#include <stdbool.h>

#include "base/clock.h"

enum {
    YIELD_ALONE_NS = 5000,         /* a yield that comes back sooner has let nobody else run */
    YIELD_HOGGED_NS = 100000,      /* one that takes longer has met somebody who does not yield, */
    YIELD_HOGGED_FOR_NS = 5000000, /* who is believed to be there for so long, */
    YIELD_HOGGED_FOR_MOST = 80000000 /* twice as long after each time that it was still so */
};

/* What the yields of a thread have told. */
struct yield_history {
    int64_t hogged_until_ns;
    int64_t hogged_for_ns; /* the last time; 0: it was not */
};

/* True while yielding is no good: sleep. */
static inline bool yield_is_hogged(const struct yield_history *history, int64_t now)
{
    return now < history->hogged_until_ns;
}

/* Yields. True if the processor was free: polling on takes nothing from anybody. */
static inline bool yield_was_free(struct yield_history *history)
{
    int64_t before = clock_ns(), after;

    sched_yield();
    after = clock_ns();
    if (after - before < YIELD_HOGGED_NS) {
        history->hogged_for_ns = 0;
        return after - before < YIELD_ALONE_NS;
    }
    history->hogged_for_ns =
        history->hogged_for_ns ? 2 * history->hogged_for_ns : YIELD_HOGGED_FOR_NS;
    if (history->hogged_for_ns > YIELD_HOGGED_FOR_MOST)
        history->hogged_for_ns = YIELD_HOGGED_FOR_MOST;
    history->hogged_until_ns = after + history->hogged_for_ns;
    return false;
}

#endif
