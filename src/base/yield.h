/* yield.h: giving the processor to whoever else wants it, and noticing whether anybody does. */
#ifndef OMPRMA_BASE_YIELD_H
#define OMPRMA_BASE_YIELD_H

#include <sched.h>
#include <stdbool.h>

#include "base/clock.h"

enum { YIELD_ALONE_NS = 5000 /* a yield that comes back sooner has let nobody else run */ };

/* Yields. True if the processor was free: polling on takes nothing from anybody. */
static inline bool yield_was_free(void)
{
    int64_t before = clock_ns();

    sched_yield();
    return clock_ns() - before < YIELD_ALONE_NS;
}

#endif
