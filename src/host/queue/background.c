/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * background.c: a thread that looks while no thread of the program does. It naps between two looks,
 * twice as long each time when nothing has moved, and it leaves looking to others as long as they
 * look. What nobody has asked for between two times FORGOTTEN_NS apart it sends and asks for: small
 * operations wait for company that may never come. It sleeps when nothing is under way, or when
 * nobody wants it any more; who wants it again, and the first operation of a queue
 * (progress_rouse()), wake it.
 *
 * A process that ends without omprma_finalize(), because a signal handler calls exit(), unloads MPI
 * beside this thread: a destructor tells it to look no more, and waits for EXIT_NS at most until it
 * does.
 */
#define _GNU_SOURCE
#include "host/queue/background.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <omprma_private/unwaited.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/slice.h"
#include "host/core/device.h"
#include "host/core/progress.h"
#include "host/queue/incoming.h"
#include "host/queue/issue.h"

enum {
    LEAST_NAP_NS = 10000,
    MOST_NAP_NS = 1000000,
    FORGOTTEN_NS = 200000,  /* longest nap when something was forgotten a short time ago, */
    RECENTLY_NS = 10000000, /* which is this */
    LINGER_NS = 50000000,   /* it naps for so long when it is not needed, before it sleeps */
    SLACK_NS = 1000,        /* that naps may be longer */
    EXIT_NS = 500000000     /* the end of a process waits for it */
};

/* What the thread remembers from look to look. */
struct rounds {
    int64_t nap_ns;
    uint64_t looks;       /* by anybody, until then */
    int64_t asked_ns;     /* when it looked for forgotten ones, */
    int64_t forgotten_ns; /* and found one */
    int64_t needed_ns;    /* when it was needed */
};

static uint64_t looks_of(struct runtime *runtime)
{
    return atomic_load_explicit(&runtime->looks, memory_order_relaxed);
}

static bool is_needed(struct runtime *runtime)
{
    if (atomic_load(&runtime->background.wanted) <= 0)
        return false;
    for (int i = 0; i < runtime->device_count; i++)
        if (runtime->devices[i] &&
            atomic_load_explicit(&runtime->devices[i]->unsettled, memory_order_relaxed) > 0)
            return true;
    return false;
}

/* ---- one look ------------------------------------------------------------------------------- */

/* Takes what has come in, until there is nothing more, a callback is due, or somebody wants the
 * lock. True if there was something. */
static bool take_in(struct runtime *runtime)
{
    bool any = false;

    while (incoming_query(runtime)) {
        any = true;
        if (completions_are_due(&runtime->completions) || waiting_lock_is_wanted(&runtime->lock))
            break;
    }
    return any;
}

/* True if nobody has asked for the end of what the queue holds since this was called last. */
static bool was_forgotten(struct omprma_queue *queue)
{
    bool pushed = !queue->open && queue->pushed == queue->ordinal; /* it leaves when it may */
    bool asked = queue_is_idle(queue) || pushed || (!queue->open && queue->asked >= queue->hazard);
    bool forgotten = !asked && queue->unasked && queue->unasked_since == queue->asked;

    queue->unasked = !asked;
    queue->unasked_since = queue->asked;
    if (forgotten)
        queue->pushed = queue->ordinal;
    return forgotten;
}

/* True if there was something. */
static bool ask_for_forgotten(struct runtime *runtime)
{
    bool any = false;

    for (int i = 0; i < runtime->device_count; i++) {
        struct device *device = runtime->devices[i];

        for (uint32_t k = 0; device && k < device->queue_count; k++) {
            if (!was_forgotten(device->queues[k]))
                continue;
            queue_send_wanted(device->queues[k]);
            any = true;
        }
    }
    return any;
}

/* True if something has moved. */
static bool look(struct runtime *runtime, struct rounds *rounds, int64_t now)
{
    bool others = looks_of(runtime) != rounds->looks, moved = false;
    bool due = now - rounds->asked_ns >= FORGOTTEN_NS;

    if (!others || due) {
        runtime_lock(runtime);
        if (!others && !runtime->driven)
            moved = take_in(runtime);
        if (due && ask_for_forgotten(runtime))
            rounds->forgotten_ns = now;
        runtime_unlock(runtime);
    }
    if (due)
        rounds->asked_ns = now;
    rounds->looks = looks_of(runtime);
    return moved;
}

static int64_t next_nap(const struct rounds *rounds, int64_t now)
{
    int64_t most = now - rounds->forgotten_ns < RECENTLY_NS ? FORGOTTEN_NS : MOST_NAP_NS;

    return 2 * rounds->nap_ns < most ? 2 * rounds->nap_ns : most;
}

/* ---- the thread ----------------------------------------------------------------------------- */

static void sleep_until_needed(struct runtime *runtime)
{
    struct background *background = &runtime->background;

    runtime_lock(runtime);
    atomic_store(&background->asleep, true);
    if (is_needed(runtime))
        atomic_store(&background->asleep, false);
    runtime_unlock(runtime);
    while (atomic_load(&background->asleep) && !atomic_load(&background->ends))
        sem_wait(&background->wake);
}

static struct rounds rounds_begin(void)
{
    return (struct rounds){.nap_ns = LEAST_NAP_NS, .needed_ns = clock_ns()};
}

static void *background_main(void *data)
{
    struct runtime *runtime = data;
    struct rounds rounds = rounds_begin();

    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    while (!atomic_load(&runtime->background.ends)) {
        struct timespec nap = {.tv_nsec = rounds.nap_ns};
        int64_t now;
        bool moved = false;

        clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
        now = clock_ns();
        if (is_needed(runtime)) {
            rounds.needed_ns = now;
            moved = look(runtime, &rounds, now);
        }
        rounds.nap_ns = moved ? LEAST_NAP_NS : next_nap(&rounds, now);
        if (now - rounds.needed_ns >= LINGER_NS) {
            sleep_until_needed(runtime);
            rounds = rounds_begin();
        }
    }
    return NULL;
}

/* With the lock held. Signals are the program's. */
static bool make(struct runtime *runtime)
{
    struct background *background = &runtime->background;
    sigset_t all, before;

    sem_init(&background->wake, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    background->made = pthread_create(&background->thread, NULL, background_main, runtime) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    atomic_store(&background->asleep, !background->made);
    return background->made;
}

omprma_status_t background_want(struct runtime *runtime, int change)
{
    struct background *background = &runtime->background;
    bool right = true;

    atomic_fetch_add(&background->wanted, change);
    if (change < 0 || !atomic_load(&background->asleep))
        return OMPRMA_OK;
    runtime_lock(runtime);
    if (background->made && is_needed(runtime))
        progress_rouse(runtime);
    else if (!background->made && !atomic_load(&background->ends))
        right = make(runtime);
    runtime_unlock(runtime);
    if (right)
        return OMPRMA_OK;
    atomic_fetch_sub(&background->wanted, change);
    return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start the progress thread");
}

void background_end(struct runtime *runtime)
{
    struct background *background = &runtime->background;

    runtime_lock(runtime);
    atomic_store(&background->ends, true);
    runtime_unlock(runtime);
    if (!background->made)
        return;
    sem_post(&background->wake);
    pthread_join(background->thread, NULL);
    runtime_lock(runtime);
    background->made = false; /* what ends from now on wakes nobody */
    sem_destroy(&background->wake);
    runtime_unlock(runtime);
}

/* What it does at this moment may need the lock of a thread whose signal handler calls exit(). */
static bool join_within(pthread_t thread, int64_t limit_ns)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += limit_ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

__attribute__((destructor)) static void look_no_more(void)
{
    struct runtime *runtime = runtime_get();
    struct background *background = runtime && !runtime_is_parents() ? &runtime->background : NULL;

    if (!background)
        return;
    atomic_store(&background->ends, true);
    if (!atomic_load(&background->made) || pthread_equal(background->thread, pthread_self()))
        return;
    sem_post(&background->wake);
    if (!join_within(background->thread, EXIT_NS))
        pthread_detach(background->thread);
    atomic_store(&background->made, false);
}

/* ---- public --------------------------------------------------------------------------------- */

omprma_status_t omprma_progress(void)
{
    struct runtime *runtime;
    omprma_status_t status = runtime_require(&runtime);

    if (status != OMPRMA_OK)
        return status;
    runtime_lock(runtime);
    if (!runtime->driven)
        take_in(runtime);
    runtime_unlock(runtime);
    return OMPRMA_OK;
}

bool omprma_rest(int64_t ns)
{
    static _Thread_local bool is_short;
    struct runtime *runtime = runtime_get();
    bool rested;

    if (!runtime)
        return false;
    if (!is_short)
        slice_shorten(); /* the program computes, and so do workers */
    is_short = true;
    runtime_lock(runtime);
    rested = progress_rest(runtime, ns);
    runtime_unlock(runtime);
    return rested;
}

/* This thread may wait already: it calls a function of the program's meanwhile. */
bool omprma_wait_until(bool (*done)(const void *data), const void *data)
{
    struct runtime *runtime = runtime_get();
    bool waits;

    if (!runtime)
        return false;
    runtime_lock(runtime);
    waits = !runtime->driven || pthread_equal(runtime->driver, pthread_self());
    if (waits)
        progress_wait(runtime, done, data);
    runtime_unlock(runtime);
    return waits;
}

void omprma_look_again(void)
{
    struct runtime *runtime = runtime_get();

    if (runtime)
        channel_wake(runtime->channel);
}

omprma_status_t omprma_progress_thread(int change)
{
    struct runtime *runtime;
    omprma_status_t status = runtime_require(&runtime);

    if (status == OMPRMA_OK && change != 1 && change != -1)
        status =
            error_set(OMPRMA_ERR_ARGUMENT, "progress thread: change is %d, not 1 or -1", change);
    if (status == OMPRMA_OK && change < 0 && atomic_load(&runtime->background.wanted) <= 0)
        status = error_set(OMPRMA_ERR_ARGUMENT, "progress thread: nobody has asked for it");
    return status == OMPRMA_OK ? background_want(runtime, change) : status;
}
