/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * deadline.h: a limit on what cannot be called off: calls of MPI that may wait for a peer, steps of
 * start-up, leaving MPI. When one takes too long the process ends, with a line and status 1;
 * omprma-run and mpirun then end the others. Beginning and ending a call costs two stores.
 *
 * Thread: enter and leave by one thread at a time; begin and end as in watch.h, when nobody is in a
 * call.
 */
#ifndef OMPRMA_BASE_DEADLINE_H
#define OMPRMA_BASE_DEADLINE_H

#include <stdatomic.h>

#include "base/watch.h"

struct deadline {
    _Atomic uint64_t calls; /* odd: in a call */
    _Atomic int peer;       /* whom it is with */
    void (*say)(const void *data, int peer);
    const void *data;
    struct watch watch;
    uint64_t seen; /* `calls` at the last look */
    int looks;     /* that have seen the same call */
};

/* From now on no call may last for `limit_ns`. Before the process ends by it, say(data, peer)
 * writes a line, while other threads may hold any lock. `deadline` is zeroed, but may be in a call.
 * False: no thread can be made, and there is no limit. */
bool deadline_begin(struct deadline *deadline, int64_t limit_ns,
                    void (*say)(const void *data, int peer), const void *data);

/* Does nothing to one that has not begun. */
void deadline_end(struct deadline *deadline);

/* One look, eight of which make a limit. */
void deadline_look(void *deadline);

/* A call that may wait for `peer` begins; ends. NULL has no limit. */
static inline void deadline_enter(struct deadline *deadline, int peer)
{
    if (!deadline)
        return;
    atomic_store_explicit(&deadline->peer, peer, memory_order_relaxed);
    atomic_store_explicit(&deadline->calls,
                          atomic_load_explicit(&deadline->calls, memory_order_relaxed) + 1,
                          memory_order_release);
}

static inline void deadline_leave(struct deadline *deadline)
{
    if (deadline)
        atomic_store_explicit(&deadline->calls,
                              atomic_load_explicit(&deadline->calls, memory_order_relaxed) + 1,
                              memory_order_release);
}

#endif
