/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sleeper.c: who waits makes progress as whoever waits in omprma does, which knows best when to
 * poll, to yield and to sleep; beside a thread that does so already it yields. After a while it
 * sleeps: at omprma's doorbell, as long as that tells of what comes in. While this process itself
 * has data to move nothing tells: then it makes progress again. Beside a thread that does it sleeps
 * at a count of changes, for short times, because it looks after what is under way as well. A value
 * that this process changes wakes those that make progress or sleep at the count; those at the
 * doorbell sleep shortly for that.
 */
#include "hsa/sleeper.h"

#include <linux/futex.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <omprma/omprma.h>
#include <omprma_private/unwaited.h>

#include "base/clock.h"
#include "face/driver/guard.h"

enum {
    AWAKE_NS = 200 * 1000, /* from the beginning of a wait on it makes progress, or yields */
    BELL_NS = 50 * 1000,   /* the longest sleep at the doorbell */
    NAP_NS = 500 * 1000    /* the longest one elsewhere */
};

static struct {
    _Atomic uint32_t changes;
    atomic_int sleeping, progressing;
} sleepers;

void sleeper_progress(void)
{
    enum guard state = guard_enter();

    if (state != GUARD_OPEN && state != GUARD_IN_HOST_CALL)
        return;
    omprma_progress();
    guard_leave();
}

void sleeper_begin(struct sleeper *sleeper)
{
    sleeper->begun_ns = clock_ns();
}

void sleeper_look(struct sleeper *sleeper)
{
    sleeper->seen = atomic_load(&sleepers.changes);
}

/* At omprma's doorbell. False: it does not tell. */
static bool sleep_at_bell(int64_t ns)
{
    enum guard state = guard_enter();
    bool rested = false;

    if (state != GUARD_OPEN && state != GUARD_IN_HOST_CALL)
        return false;
    rested = omprma_rest(ns);
    guard_leave();
    return rested;
}

static void sleep_at_count(uint32_t seen, int64_t ns)
{
    struct timespec time = {.tv_nsec = ns};

    atomic_fetch_add(&sleepers.sleeping, 1);
    syscall(SYS_futex, &sleepers.changes, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
    atomic_fetch_sub(&sleepers.sleeping, 1);
}

struct progressing {
    uint32_t seen;
    int64_t until_ns;
};

static bool progress_is_over(const void *data)
{
    const struct progressing *progressing = data;

    return atomic_load(&sleepers.changes) != progressing->seen ||
           clock_ns() >= progressing->until_ns;
}

/* False: somebody else does. */
static bool make_progress(uint32_t seen, int64_t until_ns)
{
    const struct progressing progressing = {seen, until_ns};
    enum guard state = guard_enter();
    bool made;

    if (state != GUARD_OPEN && state != GUARD_IN_HOST_CALL)
        return false;
    atomic_fetch_add(&sleepers.progressing, 1);
    made = omprma_wait_until(progress_is_over, &progressing);
    atomic_fetch_sub(&sleepers.progressing, 1);
    guard_leave();
    return made;
}

void sleeper_rest(struct sleeper *sleeper, int64_t ns)
{
    int64_t now = clock_ns(), awake_until = sleeper->begun_ns + AWAKE_NS;
    int64_t until = ns < awake_until - now ? now + ns : awake_until;

    if (now < awake_until && make_progress(sleeper->seen, until))
        return;
    sleeper_progress();
    if (atomic_load(&sleepers.changes) != sleeper->seen)
        return;
    if (now < awake_until) {
        sched_yield();
        return;
    }
    if (sleep_at_bell(ns < BELL_NS ? ns : BELL_NS))
        return;
    if (ns > NAP_NS)
        ns = NAP_NS;
    if (!make_progress(sleeper->seen, now + ns))
        sleep_at_count(sleeper->seen, ns);
}

void sleepers_wake(void)
{
    atomic_fetch_add(&sleepers.changes, 1);
    if (atomic_load(&sleepers.progressing) > 0)
        omprma_look_again();
    if (atomic_load(&sleepers.sleeping) > 0)
        syscall(SYS_futex, &sleepers.changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
