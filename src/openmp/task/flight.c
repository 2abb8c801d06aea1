/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * flight.c: the flights of a queue stand in a line, whose first is the only one that is asked
 * about. Whoever looks takes a few lines, asks for the first of each, and lets land what has
 * arrived, outside of the lock. While nobody looks, a thread of ours does, with naps that grow; it
 * sleeps when nothing is in the air.
 */
#include "openmp/task/flight.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <omprma_private/say.h>
#include <omprma_private/unwaited.h>

#include "base/clock.h"
#include "face/gate.h"
#include "openmp/abi/location.h"
#include "openmp/device/devices.h"
#include "openmp/image/choice.h"

enum {
    LINES = 16,           /* that one look asks */
    LEAST_NAP_NS = 10000, /* between two looks of the thread of ours, while something lands; */
    MOST_NAP_NS = 160000, /* they become longer when nothing does, or others look */
    REST_NS = 1000000,    /* until something comes in, where that can be told */
    LINGER_NS = 50000000, /* it looks on for so long when nothing is in flight any more */
    SLACK_NS = 1000,      /* that its naps may be longer */
    END_NAP_NS = 100000
};
static const int64_t end_silent_ns = 5000000000, end_most_ns = 60000000000;

static struct flights {
    pthread_mutex_t lock; /* of the lists */
    STAILQ_HEAD(line_list, flight_line) lines;
    int line_count;
    _Atomic int64_t own;   /* departed, and not over */
    _Atomic int64_t count; /* see flight_count() */
    atomic_flag looking;
    _Atomic int64_t looked_ns;
    _Atomic int64_t end_ns; /* since when the end waits for them; 0: it does not */

    pthread_cond_t wake; /* the thread of ours, */
    bool made, awake;    /* which there is, and which looks */
} flights = {.lock = PTHREAD_MUTEX_INITIALIZER,
             .lines = STAILQ_HEAD_INITIALIZER(flights.lines),
             .looking = ATOMIC_FLAG_INIT,
             .wake = PTHREAD_COND_INITIALIZER};

static void nap(int64_t ns)
{
    const struct timespec length = {.tv_nsec = ns};
    nanosleep(&length, NULL);
}

/* ---- looking -------------------------------------------------------------------------------- */

/* What the program printed last may still be in stdout's memory. */
void flight_say_end(const struct work *work)
{
    static atomic_bool said;
    int64_t began = atomic_load(&flights.end_ns);
    if (!began || clock_ns() - began < end_silent_ns || atomic_exchange(&said, true))
        return;
    char place[512] = "compiled without -g";
    location_words(work->where, place, sizeof(place));
    fflush(stdout);
    char text[640];
    snprintf(text, sizeof(text),
             "the program has come to its end, and waits for a nowait region that still runs "
             "(%s); Ctrl-C ends it",
             place);
    omprma_say(OMPRMA_SAY_NOTE, text);
}

void flight_finish(struct work *work)
{
    const struct location *where = work->where;
    struct device *device = work->device;
    outcome(work_finish(work), where, device);
}

/* Not any more when the process has begun to end. */
static void land(struct flight *flight)
{
    if (!gate_enter())
        return;
    flight_finish(flight->work);
    gate_leave();
    flight->calls->over(flight);
    atomic_fetch_sub_explicit(&flights.own, 1, memory_order_release);
}

/* The first flight of a line, if it has arrived. */
static struct flight *line_arrived(struct flight_line *line)
{
    pthread_mutex_lock(&flights.lock);
    struct flight *flight = STAILQ_FIRST(&line->flights);
    pthread_mutex_unlock(&flights.lock);
    if (!flight)
        return NULL;
    if (!work_has_arrived(flight->work)) {
        flight_say_end(flight->work);
        return NULL;
    }
    pthread_mutex_lock(&flights.lock);
    STAILQ_REMOVE_HEAD(&line->flights, next);
    pthread_mutex_unlock(&flights.lock);
    return flight;
}

static struct flight_line *line_take(void)
{
    pthread_mutex_lock(&flights.lock);
    struct flight_line *line = STAILQ_FIRST(&flights.lines);
    if (line)
        STAILQ_REMOVE_HEAD(&flights.lines, next);
    flights.line_count -= line != NULL;
    pthread_mutex_unlock(&flights.lock);
    return line;
}

/* The caller holds the lock. */
static void line_list(struct flight_line *line)
{
    line->listed = true;
    STAILQ_INSERT_TAIL(&flights.lines, line, next);
    flights.line_count++;
}

static void line_give(struct flight_line *line)
{
    pthread_mutex_lock(&flights.lock);
    if (STAILQ_EMPTY(&line->flights))
        line->listed = false;
    else
        line_list(line);
    pthread_mutex_unlock(&flights.lock);
}

/* A flight that is alone in its line takes the line with it. */
static void line_look(struct flight_line *line, struct flight_list *landed)
{
    struct flight *flight;
    while ((flight = line_arrived(line))) {
        bool alone = line == &flight->alone;
        STAILQ_INSERT_TAIL(landed, flight, next);
        if (alone)
            return;
    }
    line_give(line);
}

bool flight_any(void)
{
    return atomic_load_explicit(&flights.own, memory_order_acquire) > 0;
}

static void look(struct flight_list *landed)
{
    struct flight_line *line;
    if (atomic_flag_test_and_set_explicit(&flights.looking, memory_order_acquire))
        return;
    pthread_mutex_lock(&flights.lock);
    int lines = flights.line_count < LINES ? flights.line_count : LINES;
    pthread_mutex_unlock(&flights.lock);
    for (int i = 0; i < lines && (line = line_take()); i++)
        line_look(line, landed);
    atomic_store_explicit(&flights.looked_ns, clock_ns(), memory_order_relaxed);
    atomic_flag_clear_explicit(&flights.looking, memory_order_release);
}

bool flight_look(void)
{
    struct flight_list landed = STAILQ_HEAD_INITIALIZER(landed);
    struct flight *flight;
    void (*then)(void) = NULL;
    if (!flight_any() || !gate_enter())
        return false;
    look(&landed);
    gate_leave();
    while ((flight = STAILQ_FIRST(&landed))) {
        STAILQ_REMOVE_HEAD(&landed, next);
        then = flight->calls->then;
        land(flight);
    }
    if (then)
        then();
    return then;
}

/* ---- the thread that looks while nobody else does ------------------------------------------- */

static _Thread_local bool watches;

bool flight_is_watched_here(void)
{
    return watches;
}

/* Sleeps while nothing has been in flight for a while, which began at *idle. */
static void watch_sleep(int64_t *idle)
{
    int64_t now = clock_ns();
    if (flight_any()) {
        *idle = now;
        return;
    }
    if (now - *idle < LINGER_NS)
        return;
    pthread_mutex_lock(&flights.lock);
    flights.awake = false;
    while (!flight_any())
        pthread_cond_wait(&flights.wake, &flights.lock);
    flights.awake = true;
    pthread_mutex_unlock(&flights.lock);
    *idle = clock_ns();
}

/* What has landed may have let others begin, which leave now. */
static bool watch_look(void)
{
    bool any = flight_look();
    if (any)
        flight_look();
    return any;
}

/* Until something comes in. Not any more when the process has begun to end. */
static bool watch_rest(void)
{
    if (!flight_any() || !gate_enter())
        return false;
    bool rested = omprma_rest(REST_NS);
    gate_leave();
    return rested;
}

/* Has something come in while nobody else looked? */
static bool watch_round(int64_t length)
{
    int64_t looked = atomic_load_explicit(&flights.looked_ns, memory_order_relaxed);
    if (clock_ns() - looked < length)
        return false;
    bool any = watch_look();
    if (watch_rest()) {
        watch_look();
        any = true;
    }
    return any;
}

static void *watch(void *context)
{
    int64_t length = LEAST_NAP_NS, idle = clock_ns();
    (void)context;
    watches = true;
    prctl(PR_SET_TIMERSLACK, SLACK_NS);
    while (!devices_ended()) {
        nap(length);
        if (watch_round(length))
            length = LEAST_NAP_NS;
        else if (length < MOST_NAP_NS)
            length *= 2;
        watch_sleep(&idle);
    }
    for (;;) /* libomp, which may know this thread, ends beside it */
        pause();
    return NULL;
}

/* The caller holds the lock. Without it, what is in flight lands when the program waits. */
static void watch_wake(void)
{
    pthread_t thread;
    sigset_t all, before;
    if (flights.awake)
        return;
    if (flights.made) {
        pthread_cond_signal(&flights.wake);
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    flights.made = flights.awake = pthread_create(&thread, NULL, watch, NULL) == 0;
    if (flights.made)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- departure ------------------------------------------------------------------------------ */

/* That of a queue that is shared; NULL: no memory. The caller holds the lock. */
static struct flight_line *line_shared(const struct work *work)
{
    struct flight_line **lines = &work->site->lines;
    if (!*lines) {
        *lines = calloc(SHARED_MOST, sizeof(**lines));
        for (int i = 0; *lines && i < SHARED_MOST; i++)
            STAILQ_INIT(&(*lines)[i].flights);
    }
    return *lines ? &(*lines)[work->slot] : NULL;
}

/* The caller holds the lock. */
static void line_up(struct flight *flight)
{
    struct flight_line *line = flight->work->slot >= 0 ? line_shared(flight->work) : NULL;
    if (!line) {
        line = &flight->alone;
        *line = (struct flight_line){0};
        STAILQ_INIT(&line->flights);
    }
    STAILQ_INSERT_TAIL(&line->flights, flight, next);
    if (!line->listed)
        line_list(line);
}

void flight_begin(struct flight *flight, struct work *work)
{
    flight->work = work;
    /* The first one leaves at once, and is there while others gather. */
    if (atomic_fetch_add_explicit(&flights.own, 1, memory_order_relaxed) == 0)
        work_has_arrived(work);
    pthread_mutex_lock(&flights.lock);
    line_up(flight);
    watch_wake();
    pthread_mutex_unlock(&flights.lock);
}

/* ---- the end -------------------------------------------------------------------------------- */

void flight_count(int difference)
{
    atomic_fetch_add_explicit(&flights.count, difference, memory_order_acq_rel);
}

bool flight_counted(void)
{
    return atomic_load_explicit(&flights.count, memory_order_acquire) > 0;
}

void flight_end_begins(void)
{
    atomic_store(&flights.end_ns, clock_ns());
}

void flight_end(int most)
{
    int64_t begin = atomic_load(&flights.end_ns);
    while (atomic_load_explicit(&flights.count, memory_order_acquire) > most &&
           clock_ns() - begin < end_most_ns)
        if (!flight_look())
            nap(END_NAP_NS);
    atomic_store(&flights.end_ns, 0);
}
