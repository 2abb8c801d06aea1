/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * progress.c: the driver looks again and again until its own wait is over (drive()), and then wakes
 * another one that waits, the heir, to drive on. The others sleep on a semaphore each, where
 * processors are short after some yields. The driver holds the lock but for moments: it lets in
 * whoever wants it, and releases it while it naps.
 */
#define _GNU_SOURCE
#include "host/core/progress.h"

#include <sched.h>

#include "base/clock.h"
#include "host/core/peer.h"

enum {
    YIELD_NS = 2000000,       /* a waiting thread polls, yielding, for so long before it sleeps, */
    YIELD_SHARED_NS = 100000, /* and for so long when somebody else wants its processor */
    NAP_NEAR_NS = 2000000,    /* longest sleep when workers can ring */
    NAP_FAR_NS = 50000,       /* when they cannot */
    NAP_HEARS_NS = 50000000,  /* when everything is heard: a timer that is due soon costs time */
    PART_PAUSE_NS = 2000000   /* between two moves to another processor */
};

/* Wakes those whose wait is over. They need no lock to see it. */
void progress_signal(struct runtime *runtime)
{
    struct waiter **link = &runtime->waiters;

    while (*link) {
        struct waiter *waiter = *link;

        if (!waiter->done(waiter->data)) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        wakeups_add_waiter(&runtime->wakeups, waiter);
    }
}

/* Lets threads in that want the lock. True if nobody else wanted the processor. */
static bool let_in(struct runtime *runtime)
{
    bool was_free;

    runtime_unlock(runtime);
    was_free = yield_lets_in(&runtime->yields, &runtime->lock);
    runtime_lock(runtime);
    return was_free;
}

/* The same, for as long as a nap takes. */
static void let_in_longer(struct runtime *runtime)
{
    runtime_unlock(runtime);
    waiting_nap();
    runtime_lock(runtime);
}

static bool all_can_ring(const struct runtime *runtime)
{
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (runtime->peers[rank] && !runtime->peers[rank]->can_ring)
            return false;
    return true;
}

static int64_t longest_nap(const struct runtime *runtime)
{
    return runtime->channel->hears ? NAP_HEARS_NS
           : all_can_ring(runtime) ? NAP_NEAR_NS
                                   : NAP_FAR_NS;
}

/* A worker on the same processor cannot answer while this thread polls, and yielding to each other
 * costs both many times what a message takes: the scheduler sees two busy threads and leaves them
 * there. This thread moves to a processor where no worker is awake, if there is one. Those that
 * sleep are nowhere. */
static void part_from_workers(struct runtime *runtime, int64_t now)
{
    int here = sched_getcpu();
    cpu_set_t allowed, taken, others;

    if (here < 0 || now - runtime->parted_ns < PART_PAUSE_NS)
        return;
    CPU_ZERO(&taken);
    for (int rank = 0; rank < runtime->world.size; rank++) {
        const struct peer *peer = runtime->peers[rank];
        int cpu = peer && peer->can_ring && !doorbell_is_asleep(runtime->bells[rank])
                      ? doorbell_cpu(runtime->bells[rank])
                      : -1;

        if (cpu >= 0 && cpu < CPU_SETSIZE)
            CPU_SET(cpu, &taken);
    }
    if (!CPU_ISSET(here, &taken))
        return;
    runtime->parted_ns = now;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return;
    CPU_AND(&taken, &taken, &allowed);
    CPU_XOR(&others, &allowed, &taken);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0)
        sched_setaffinity(0, sizeof(allowed), &allowed); /* it has moved: free again */
}

/* One thread sleeps for messages at a time. */
static void end_rest(struct runtime *runtime)
{
    while (runtime->rests) {
        channel_wake(runtime->channel);
        let_in(runtime);
    }
}

/* While queues have something to test, looking is all that helps, unless that is heard at a
 * descriptor. The thread that copies tells, so queues that have copies under way, each of which is
 * busy, do not count. */
static bool has_to_look(const struct runtime *runtime, int *also)
{
    bool tests =
        runtime->moving > runtime->copying || runtime->busy_count > runtime->copying_queues;

    *also = tests && runtime->channel->hears ? runtime->hooks.descriptor(runtime) : -1;
    return tests && *also < 0;
}

/* Sleeps until something comes in, after one more look: unless its wait is over, because somebody
 * has looked in its place, or there is something to test after all. */
static void nap(struct runtime *runtime, struct waiting *waiting, bool (*done)(const void *),
                const void *data)
{
    int also = -1;

    end_rest(runtime);
    channel_prepare(runtime->channel, true);
    if (runtime->hooks.look(runtime) || done(data)) {
        channel_prepare(runtime->channel, false);
        *waiting = (struct waiting){0};
        return;
    }
    if (runtime->busy_first &&
        (!runtime->channel->hears || (also = runtime->hooks.descriptor(runtime)) < 0)) {
        channel_prepare(runtime->channel, false);
        waiting->shared |= !let_in(runtime);
        return;
    }
    runtime_unlock(runtime);
    channel_sleep(runtime->channel, longest_nap(runtime), also);
    runtime_lock(runtime);
}

bool progress_rest(struct runtime *runtime, int64_t ns)
{
    int also;

    if (runtime->driven || runtime->rests || has_to_look(runtime, &also) ||
        longest_nap(runtime) < NAP_NEAR_NS)
        return false;
    channel_prepare(runtime->channel, true);
    if (runtime->hooks.look(runtime) || has_to_look(runtime, &also)) {
        channel_prepare(runtime->channel, false);
        return true;
    }
    runtime->rests = true;
    runtime_unlock(runtime);
    channel_sleep(runtime->channel, ns, also);
    runtime_lock(runtime);
    runtime->rests = false;
    return true;
}

/* Nothing has happened. While queues have something to test nobody sleeps, unless that is heard.
 * Who hears yields from the beginning, and not for long, see waiting.h. */
static void wait_on(struct runtime *runtime, struct waiting *waiting, bool (*done)(const void *),
                    const void *data)
{
    bool hears = runtime->channel->hears, busy = runtime->busy_first != NULL;
    bool heard = hears && busy && runtime->hooks.descriptor(runtime) >= 0;
    struct waiting_limits limits = {
        .spin_ns = runtime->config.spin_us * 1000,
        .yield_ns = YIELD_NS,
        .yield_shared_ns = YIELD_SHARED_NS,
    };
    int64_t awake_until = busy && !heard ? INT64_MAX : 0;
    enum waiting_step step;
    int64_t now = 0;

    if (hears)
        waiting_hears(&limits, heard);
    if (runtime->spin_ns)
        limits.spin_ns = runtime->spin_ns;
    if (waiting_lock_is_wanted(&runtime->lock))
        let_in(runtime);
    step = waiting_next(waiting, &limits, &runtime->yields, awake_until, &now);
    if (step == WAITING_POLL)
        return;
    if (step != WAITING_LOOK || runtime->spin_ns)
        part_from_workers(runtime, now);
    if (step == WAITING_LOOK)
        return;
    datapath_progress(runtime->one_sided);
    runtime->hooks.watch(runtime, now);
    /* Watching may have lost a device, whose queues have something to do now. */
    if (step == WAITING_NAP)
        let_in_longer(runtime);
    else if (step == WAITING_YIELD || (runtime->busy_first && !hears))
        waiting->shared |= !let_in(runtime);
    else
        nap(runtime, waiting, done, data);
}

/* Wakes one of those that wait, to drive. Until it has got a processor, whoever is running and has
 * to wait drives instead: where processors are short, the one that was woken comes late. */
static void wake_heir(struct runtime *runtime)
{
    struct waiter *heir = runtime->waiters;

    if (!heir || runtime->heir_comes)
        return;
    runtime->waiters = heir->next;
    runtime->heir_comes = true;
    heir->is_heir = true;
    wakeups_add_waiter(&runtime->wakeups, heir);
}

/* Releases the lock for a moment if somebody waits for that. */
static void let_wakeups_out(struct runtime *runtime)
{
    if (!runtime->wakeups.any && !completions_are_due(&runtime->completions))
        return;
    runtime_unlock(runtime);
    runtime_lock(runtime);
}

/* Makes progress for all until its own wait is over. */
static void drive(struct runtime *runtime, bool (*done)(const void *), const void *data)
{
    struct waiting waiting = {0};
    bool was_driven = runtime->driven; /* by this thread, further up: a callback waits */

    runtime->driven = true;
    runtime->driver = pthread_self();
    while (!done(data)) {
        let_wakeups_out(runtime);
        if (runtime->hooks.look(runtime)) {
            waiting = (struct waiting){0};
            if (waiting_lock_is_wanted(&runtime->lock))
                let_in(runtime);
        } else {
            wait_on(runtime, &waiting, done, data);
        }
    }
    runtime->driven = was_driven;
}

/* Yields until it is woken, for as long as a driver who shares its processor does. While the driver
 * has let go of the lock, because somebody else has its processor, this thread looks in its place.
 * Where processors are shared anyway, that takes a fraction of a sleep and its end. False: it was
 * not woken. */
static bool yields_until_woken(struct runtime *runtime, struct waiter *self)
{
    int64_t until = clock_ns() + YIELD_SHARED_NS;

    while (sem_trywait(&self->wake) != 0) {
        if (clock_ns() >= until)
            return false;
        if (waiting_lock_try(&runtime->lock)) {
            runtime->hooks.look(runtime);
            runtime_unlock(runtime);
        }
        sched_yield();
    }
    return true;
}

/* Waits until its wait is over or it is to drive. */
static void wait_for_driver(struct runtime *runtime, struct waiter *self)
{
    sem_init(&self->wake, 0, 0);
    self->next = runtime->waiters;
    runtime->waiters = self; /* taken off again before it is woken */
    runtime_unlock(runtime);
    channel_wake(runtime->channel); /* who drives may sleep, and there is something new to test */
    if (!runtime->world.crowded || !yields_until_woken(runtime, self))
        while (sem_wait(&self->wake) != 0) /* interrupted by a signal of the program */
            ;
    runtime_lock(runtime);
    sem_destroy(&self->wake);
    if (self->is_heir)
        runtime->heir_comes = self->is_heir = false;
}

/* It is not done yet. */
static void wait_until(struct runtime *runtime, bool (*done)(const void *), const void *data)
{
    struct waiter self = {.done = done, .data = data};

    observe_rests(runtime->observers, true);
    do {
        if (runtime->driven && !pthread_equal(runtime->driver, pthread_self()))
            wait_for_driver(runtime, &self);
        else
            drive(runtime, done, data);
    } while (!done(data));
    observe_rests(runtime->observers, false);
}

void progress_wait(struct runtime *runtime, bool (*done)(const void *), const void *data)
{
    if (!done(data))
        wait_until(runtime, done, data);
    if (!runtime->driven)
        wake_heir(runtime);
}
