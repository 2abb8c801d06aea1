/*
 * guard.h: a limit on calls that may wait for a peer inside a library and cannot be called off. A
 * thread looks from time to time whether the call that it saw last still goes on; entering and
 * leaving a call costs two stores.
 *
 * Thread: enter and leave by one thread at a time, create and destroy when nobody is in a call.
 */
#ifndef OMPRMA_BASE_GUARD_H
#define OMPRMA_BASE_GUARD_H

#include <stdatomic.h>
#include <stdint.h>
#include <omprma/omprma.h>

#include "base/watch.h"

struct guard {
    _Atomic uint64_t calls; /* odd: in a call */
    _Atomic int peer;       /* whom it is with */
    int64_t limit_ns;
    void (*expired)(void *data, int peer);
    void *data;
    struct watch watch;
    uint64_t seen; /* `calls` at the last look */
    int looks;     /* that have seen the same call */
};

/* When a call has lasted for `limit_ns`, `expired` is called, once, on a thread of the guard's own,
 * while other threads may hold any lock. Errors: HOST_MEMORY (no thread can be made). */
omprma_status_t guard_create(int64_t limit_ns, void (*expired)(void *data, int peer), void *data,
                             struct guard **guard);
void guard_destroy(struct guard *guard);

/* A call that may wait for `peer` begins; ends. NULL guards nothing. */
static inline void guard_enter(struct guard *guard, int peer)
{
    if (!guard)
        return;
    atomic_store_explicit(&guard->peer, peer, memory_order_relaxed);
    atomic_store_explicit(&guard->calls,
                          atomic_load_explicit(&guard->calls, memory_order_relaxed) + 1,
                          memory_order_release);
}

static inline void guard_leave(struct guard *guard)
{
    if (guard)
        atomic_store_explicit(&guard->calls,
                              atomic_load_explicit(&guard->calls, memory_order_relaxed) + 1,
                              memory_order_release);
}

#endif
