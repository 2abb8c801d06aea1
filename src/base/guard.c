/*
 * guard.c: The guard's thread looks eight times per limit at a count that is odd inside a call. The
 * call has expired when it was the same at nine looks. Looks are counted, not time: a process that
 * was stopped for long has looked once meanwhile.
 */
#include "base/guard.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"

/* Looks are counted, not time: a process that was stopped for long has looked once meanwhile. */
enum { LOOKS_PER_LIMIT = 8 };

static int64_t look(void *data)
{
    struct guard *guard = data;
    uint64_t calls = atomic_load_explicit(&guard->calls, memory_order_acquire);

    if (calls != guard->seen || calls % 2 == 0)
        guard->looks = 0;
    guard->seen = calls;
    if (guard->looks++ <= LOOKS_PER_LIMIT)
        return clock_ns() + guard->limit_ns / LOOKS_PER_LIMIT;
    guard->expired(guard->data, atomic_load(&guard->peer));
    return WATCH_END;
}

omprma_status_t guard_create(int64_t limit_ns, void (*expired)(void *data, int peer), void *data,
                             struct guard **out)
{
    struct guard *guard = calloc(1, sizeof(*guard));

    if (!guard)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to watch calls of MPI");
    guard->limit_ns = limit_ns;
    guard->expired = expired;
    guard->data = data;
    if (!watch_begin(&guard->watch, look, guard)) {
        free(guard);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no thread can be made to watch calls of MPI");
    }
    *out = guard;
    return OMPRMA_OK;
}

void guard_destroy(struct guard *guard)
{
    if (!guard)
        return;
    watch_end(&guard->watch);
    free(guard);
}
