/* progress.c: results coming in, queues going on, waiting. See runtime.h. */
#define _GNU_SOURCE
#include "host/runtime.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/yield.h"
#include "host/peer.h"
#include "host/queue.h"

enum {
    YIELD_SHARED_NS = 100000, /* a waiting thread polls, yielding, for so long before it sleeps */
    YIELD_ALONE_NS_MOST = 2000000, /* the same as long as nobody else wants its processor */
    NAP_NEAR_NS = 2000000,         /* longest sleep when workers can ring */
    NAP_FAR_NS = 50000,            /* when they cannot */
    LET_IN_YIELDS = 50,            /* how long the lock is offered to others */
    PART_PAUSE_NS = 2000000,       /* between two moves to another processor */
    POLLS_PER_LOOK = 16,           /* between looks at the clock */
    THREAD_PAUSE_NS = 50000        /* of the progress thread when nothing is going on */
};

/* How long a thread has waited without anything happening. */
struct patience {
    int64_t since_ns;
    unsigned rounds;
    bool shared; /* somebody else wants the processor */
};

/* The connection to a worker, or to all, has failed. True if that was news. */
static bool lose_failed(struct runtime *runtime)
{
    int failed = runtime->channel->failed_peer;
    char text[512];
    bool news = false;

    snprintf(text, sizeof(text), "%s", error_text());
    for (int rank = 0; rank < runtime->world.size; rank++) {
        struct peer *peer = runtime->peers[rank];

        if (!peer || peer->lost || (failed >= 0 && rank != failed))
            continue;
        peer_lose(peer, "%s: %s", peer_name(peer), text);
        news = true;
    }
    return news;
}

/* Takes one message, so that a thread that waited for it can go on at once. */
static bool take_message(struct runtime *runtime)
{
    struct channel_message *message = NULL;
    struct peer *peer;

    if (channel_receive(runtime->channel, &message) != OMPRMA_OK)
        return lose_failed(runtime);
    if (!message)
        return false;
    peer = runtime->peers[message->peer];
    peer->heard_ns = 0; /* set by the next look at the clock */
    peer_accept(peer, message);
    channel_drop(runtime->channel, message);
    return true;
}

bool progress_once(struct runtime *runtime)
{
    bool moved = take_message(runtime);

    for (uint32_t turns = runtime->busy_count; turns > 0; turns--) {
        struct omprma_queue *queue = runtime->busy_first;

        if (!queue)
            break;
        runtime->busy_first = queue->next_busy;
        if (!runtime->busy_first)
            runtime->busy_last = NULL;
        runtime->busy_count--;
        queue->busy = false;
        moved |= queue_advance(queue);
    }
    return moved;
}

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
        wakes_add_waiter(&runtime->wakes, waiter);
    }
}

/* Lets threads in that want the lock: unlocking alone would not do, because this thread would take
 * it again before the other has even been woken. True if nobody else wanted the processor. */
static bool let_in(struct runtime *runtime)
{
    bool was_free;

    runtime_unlock(runtime);
    was_free = yield_was_free(&runtime->yields);
    for (int i = 0; i < LET_IN_YIELDS && atomic_load(&runtime->contenders); i++)
        sched_yield();
    runtime_lock(runtime);
    return was_free;
}

static void watch(struct runtime *runtime, int64_t now)
{
    for (int rank = 0; rank < runtime->world.size; rank++) {
        struct peer *peer = runtime->peers[rank];

        if (!peer)
            continue;
        if (peer->heard_ns == 0)
            peer->heard_ns = now;
        peer_watch(peer, now);
    }
}

void progress_look(struct runtime *runtime)
{
    if (progress_once(runtime))
        return;
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (runtime->peers[rank])
            peer_watch_death(runtime->peers[rank], clock_ns());
}

static bool all_can_ring(const struct runtime *runtime)
{
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (runtime->peers[rank] && !runtime->peers[rank]->can_ring)
            return false;
    return true;
}

/* A worker on the same processor cannot answer while this thread polls, and yielding to each other
 * costs both many times what a message takes: the scheduler sees two busy threads and leaves them
 * there. Where there is room, this thread moves away. */
static void part_from_workers(struct runtime *runtime, int64_t now)
{
    int here = sched_getcpu();
    cpu_set_t allowed, others;

    if (runtime->world.crowded || now - runtime->parted_ns < PART_PAUSE_NS)
        return;
    for (int rank = 0; rank < runtime->world.size; rank++) {
        const struct peer *peer = runtime->peers[rank];

        if (!peer || !peer->can_ring || doorbell_cpu(runtime->bells[rank]) != here)
            continue;
        runtime->parted_ns = now;
        if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < 2)
            return;
        others = allowed;
        CPU_CLR(here, &others);
        if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof(others), &others) == 0)
            sched_setaffinity(0, sizeof(allowed), &allowed); /* it has moved: free again */
        return;
    }
}

/* Sleeps until something comes in, after one more look. */
static void nap(struct runtime *runtime, struct patience *patience)
{
    channel_prepare(runtime->channel, true);
    if (progress_once(runtime)) {
        channel_prepare(runtime->channel, false);
        *patience = (struct patience){0};
        return;
    }
    runtime_unlock(runtime);
    channel_sleep(runtime->channel, all_can_ring(runtime) ? NAP_NEAR_NS : NAP_FAR_NS);
    runtime_lock(runtime);
}

/* Nothing has happened: spin, then yield, then sleep. */
static void be_patient(struct runtime *runtime, struct patience *patience)
{
    int64_t now, waited;

    if (atomic_load_explicit(&runtime->contenders, memory_order_relaxed))
        let_in(runtime);
    if (++patience->rounds % POLLS_PER_LOOK)
        return;
    now = clock_ns();
    if (!patience->since_ns)
        patience->since_ns = now;
    waited = now - patience->since_ns;
    if (waited < runtime->config.spin_us * 1000)
        return;
    part_from_workers(runtime, now);
    watch(runtime, now);
    if (runtime->busy_first ||
        (waited < (patience->shared ? YIELD_SHARED_NS : YIELD_ALONE_NS_MOST) &&
         !yield_is_hogged(&runtime->yields, now)))
        patience->shared |= !let_in(runtime);
    else
        nap(runtime, patience);
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
    wakes_add_waiter(&runtime->wakes, heir);
}

/* Releases the lock for a moment if somebody waits for that. */
static void let_wakes_out(struct runtime *runtime)
{
    if (!runtime->wakes.any && !completions_are_due(&runtime->completions))
        return;
    runtime_unlock(runtime);
    runtime_lock(runtime);
}

/* Makes progress for all until its own wait is over. */
static void drive(struct runtime *runtime, bool (*done)(const void *), const void *data)
{
    struct patience patience = {0};

    runtime->driven = true;
    while (!done(data)) {
        let_wakes_out(runtime);
        if (progress_once(runtime)) {
            patience = (struct patience){0};
            if (atomic_load_explicit(&runtime->contenders, memory_order_relaxed))
                let_in(runtime);
        } else {
            be_patient(runtime, &patience);
        }
    }
    runtime->driven = false;
}

/* Sleeps until its wait is over or it is to drive. */
static void wait_for_driver(struct runtime *runtime, struct waiter *self)
{
    sem_init(&self->wake, 0, 0);
    self->next = runtime->waiters;
    runtime->waiters = self; /* taken off again before it is woken */
    runtime_unlock(runtime);
    channel_wake(runtime->channel); /* who drives may sleep, and there is something new to test */
    while (sem_wait(&self->wake) != 0) /* interrupted by a signal of the program */
        ;
    runtime_lock(runtime);
    sem_destroy(&self->wake);
    if (self->is_heir)
        runtime->heir_comes = self->is_heir = false;
}

void progress_wait(struct runtime *runtime, bool (*done)(const void *), const void *data)
{
    struct waiter self = {.done = done, .data = data};

    while (!done(data)) {
        if (runtime->driven)
            wait_for_driver(runtime, &self);
        else
            drive(runtime, done, data);
    }
    if (!runtime->driven)
        wake_heir(runtime);
}

static void *progress_main(void *data)
{
    struct runtime *runtime = data;
    struct timespec pause = {.tv_nsec = THREAD_PAUSE_NS};

    while (!atomic_load(&runtime->progress_stop)) {
        bool moved = false;

        runtime_lock(runtime);
        if (!runtime->driven)
            moved = progress_once(runtime);
        runtime_unlock(runtime);
        if (!moved)
            nanosleep(&pause, NULL);
        else
            sched_yield();
    }
    return NULL;
}

omprma_status_t progress_thread_start(struct runtime *runtime)
{
    if (!runtime->config.progress_thread)
        return OMPRMA_OK;
    if (pthread_create(&runtime->progress_thread, NULL, progress_main, runtime) != 0)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start the progress thread");
    runtime->progress_running = true;
    return OMPRMA_OK;
}

void progress_thread_stop(struct runtime *runtime)
{
    if (!runtime->progress_running)
        return;
    atomic_store(&runtime->progress_stop, true);
    pthread_join(runtime->progress_thread, NULL);
    runtime->progress_running = false;
}
