/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * waiting.h: how a thread waits for what comes in from other processes, on both sides: it polls,
 * then polls and yields the processor, then sleeps until it is rung. And the lock of such a thread,
 * which it holds nearly always and lets others have between its looks.
 *
 * Where a processor is free, polling between yields is the fastest way to wait, and among threads
 * that all yield it still is a good one. Where somebody hogs the processor (libomp's threads do
 * while they wait), a yield lasts as long as their slice, and who sleeps until rung comes back
 * sooner: the scheduler prefers those who have slept. One long yield says little: something else
 * had a slice. Who is needed without being rung naps there instead, and also when it has yielded
 * for long to others who want the processor: threads that all yield keep everybody else waiting for
 * seconds on Linux 6.18.
 *
 * A thread hears if whatever comes, from any host, ends its sleep. It waits for sockets then, and
 * each look at them is a call of the kernel. The peer may share its processor. So it yields from
 * the beginning, and for no longer than it takes to be woken: two processes that polled for 5 us
 * before they yielded took twice as long for a message.
 */
#ifndef OMPRMA_BASE_WAITING_H
#define OMPRMA_BASE_WAITING_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"

/* ---- the lock ---- */

struct waiting_lock {
    pthread_mutex_t mutex;
    _Atomic int contenders; /* threads that wait for it */
};

/* True if nobody else had it. */
static inline bool waiting_lock_try(struct waiting_lock *lock)
{
    return pthread_mutex_trylock(&lock->mutex) == 0;
}

static inline void waiting_lock_take(struct waiting_lock *lock)
{
    if (waiting_lock_try(lock))
        return;
    atomic_fetch_add(&lock->contenders, 1);
    pthread_mutex_lock(&lock->mutex);
    atomic_fetch_sub(&lock->contenders, 1);
}

static inline void waiting_lock_give(struct waiting_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

static inline bool waiting_lock_is_wanted(const struct waiting_lock *lock)
{
    return atomic_load_explicit(&lock->contenders, memory_order_relaxed) != 0;
}

/* ---- yielding ---- */

enum {
    YIELD_ALONE_NS = 5000,         /* a yield that comes back sooner has let nobody else run */
    YIELD_HOGGED_NS = 100000,      /* one that takes longer has met somebody who does not yield; */
    YIELD_HOGGED_FOR_NS = 5000000, /* after two in a row he is believed to stay for so long, */
    YIELD_HOGGED_FOR_MOST = 80000000, /* twice as long after each time that it was still so */
    YIELD_LET_IN_MOST = 50            /* how often the lock is offered to others at a time */
};

/* What the yields of a thread have told. */
struct yield_history {
    int64_t hogged_until_ns;
    int64_t hogged_for_ns; /* the last time; 0: it was not */
    bool was_long;         /* the last one took longer than YIELD_HOGGED_NS */
};

/* A yield lasted from `before` to `after`. True if the processor was free: polling on takes nothing
 * from anybody. */
static inline bool yield_lasted(struct yield_history *history, int64_t before, int64_t after)
{
    if (after - before < YIELD_HOGGED_NS) {
        history->hogged_for_ns = 0;
        history->was_long = false;
        return after - before < YIELD_ALONE_NS;
    }
    if (history->was_long) {
        history->hogged_for_ns =
            history->hogged_for_ns ? 2 * history->hogged_for_ns : YIELD_HOGGED_FOR_NS;
        if (history->hogged_for_ns > YIELD_HOGGED_FOR_MOST)
            history->hogged_for_ns = YIELD_HOGGED_FOR_MOST;
        history->hogged_until_ns = after + history->hogged_for_ns;
    }
    history->was_long = true;
    return false;
}

/* Yields. The same result. */
static inline bool yield_was_free(struct yield_history *history)
{
    int64_t before = clock_ns();

    sched_yield();
    return yield_lasted(history, before, clock_ns());
}

/* The same by a thread that has just given its lock, so that others can have it: else this one
 * would take it again before they are awake. */
static inline bool yield_lets_in(struct yield_history *history, const struct waiting_lock *lock)
{
    bool was_free = yield_was_free(history);

    for (int i = 0; i < YIELD_LET_IN_MOST && atomic_load(&lock->contenders); i++)
        sched_yield();
    return was_free;
}

/* ---- what next ---- */

enum {
    WAITING_POLLS_PER_LOOK = 16,      /* between looks at the clock */
    WAITING_SHARED_MOST_NS = 2000000, /* yields to others for so long before it naps */
    WAITING_HEARS_YIELD_NS = 20000,   /* yields of who hears */
    WAITING_NAP_NS = 20000
};

/* For how long what is done, counted from the first look that found nothing. */
struct waiting_limits {
    int64_t spin_ns;         /* polls */
    int64_t yield_ns;        /* polls and yields; then it sleeps */
    int64_t yield_shared_ns; /* the same once a yield has let somebody else run */
    int64_t spin_until_ns;   /* before this time it polls in any case */
    bool each;               /* looks at the clock each time: a poll takes long */
};

/* Those of who hears, from those of who does not. Where data moves, who sleeps until there is room
 * or more of it moves more at a time. */
static inline void waiting_hears(struct waiting_limits *limits, bool data_moves)
{
    limits->yield_ns = data_moves ? 0 : WAITING_HEARS_YIELD_NS + limits->spin_ns;
    limits->yield_shared_ns = limits->spin_ns = 0;
    limits->each = true;
}

/* How long a thread has waited without anything happening. Zero is the beginning. */
struct waiting {
    int64_t since_ns;
    unsigned rounds;
    bool shared; /* somebody else wants the processor */
};

enum waiting_step {
    WAITING_POLL, /* go on */
    WAITING_LOOK, /* go on; time for what is to be done now and then */
    WAITING_YIELD,
    WAITING_NAP, /* waiting_nap() */
    WAITING_SLEEP
};

/* Another poll has found nothing. Before `awake_until_ns` it is not to be rung, and naps at most.
 * *now is set, except for WAITING_POLL. */
static inline enum waiting_step waiting_next(struct waiting *waiting,
                                             const struct waiting_limits *limits,
                                             const struct yield_history *history,
                                             int64_t awake_until_ns, int64_t *now)
{
    int64_t waited;
    bool hogged;

    if (++waiting->rounds % WAITING_POLLS_PER_LOOK && !limits->each)
        return WAITING_POLL;
    *now = clock_ns();
    if (!waiting->since_ns)
        waiting->since_ns = *now;
    waited = *now - waiting->since_ns;
    if (waited < limits->spin_ns || *now < limits->spin_until_ns)
        return WAITING_LOOK;
    hogged = *now < history->hogged_until_ns;
    if (*now < awake_until_ns)
        return hogged || (waiting->shared && waited >= WAITING_SHARED_MOST_NS) ? WAITING_NAP
                                                                               : WAITING_YIELD;
    return !hogged && waited < (waiting->shared ? limits->yield_shared_ns : limits->yield_ns)
               ? WAITING_YIELD
               : WAITING_SLEEP;
}

static inline void waiting_nap(void)
{
    const struct timespec nap = {.tv_nsec = WAITING_NAP_NS};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

#endif
