/*
 * flight.c: omprma says when flights have arrived (omprma_queue_notify()). It does so on whatever
 * thread makes progress, which may hold locks of this runtime or of the program. So nothing lands
 * there: what has arrived is put into a list, and lands on a thread that waits (flight_look()), or
 * on ours, which sleeps until something has arrived and no thread waits.
 *
 * The flights of one queue stand in a line, and one notification at a time is asked for: for all
 * that are in the line then. Those that depart meanwhile gather in the queue, and leave together.
 *
 * The lock is taken inside of notifications, so nothing is called with it held.
 */
#include "openmp/flight.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "face/gate.h"
#include "openmp/report.h"

enum {
    LEAST_NAP_NS = 10000,  /* of the thread of ours between two landings, when one has let others
                            * begin; */
    MOST_NAP_NS = 1000000, /* when none has, there is time, and it is in the way of who departs */
    END_NAP_NS = 100000
};
static const int64_t end_silent_ns = 5000000000, end_most_ns = 60000000000;

static struct flights {
    pthread_mutex_t lock;     /* of the lists and the lines */
    TAILQ_HEAD(, flight) air; /* those that have not arrived, as they have departed */
    struct flight_list arrived;
    _Atomic int64_t arrivals; /* how many those are */
    _Atomic int64_t own;      /* departed, and not over */
    _Atomic int64_t count;    /* see flight_count() */
    _Atomic int waiting;      /* threads that look again and again */
    atomic_flag looking;      /* one of them makes progress */
    _Atomic int64_t end_ns;   /* since when the end waits for them; 0: it does not */

    pthread_cond_t wake; /* the thread of ours, */
    bool made;           /* which there is */
} flights = {.lock = PTHREAD_MUTEX_INITIALIZER,
             .air = TAILQ_HEAD_INITIALIZER(flights.air),
             .arrived = STAILQ_HEAD_INITIALIZER(flights.arrived),
             .looking = ATOMIC_FLAG_INIT,
             .wake = PTHREAD_COND_INITIALIZER};

static void nap(int64_t ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

bool flight_any(void)
{
    return atomic_load_explicit(&flights.own, memory_order_acquire) > 0;
}

/* ---- landing -------------------------------------------------------------------------------- */

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

/* All that have arrived. */
static void arrived_take(struct flight_list *all)
{
    pthread_mutex_lock(&flights.lock);
    STAILQ_CONCAT(all, &flights.arrived);
    atomic_store(&flights.arrivals, 0);
    pthread_mutex_unlock(&flights.lock);
}

static void arrived_land(struct flight_list *all)
{
    struct flight *flight;
    void (*then)(void) = NULL;
    while ((flight = STAILQ_FIRST(all))) {
        STAILQ_REMOVE_HEAD(all, next);
        then = flight->calls->then;
        land(flight);
    }
    if (then)
        then();
}

/* ---- threads that wait ---------------------------------------------------------------------- */

void flight_wait_begin(void)
{
    atomic_fetch_add(&flights.waiting, 1);
}

void flight_wait_end(void)
{
    if (atomic_fetch_sub(&flights.waiting, 1) > 1 || atomic_load(&flights.arrivals) == 0)
        return;
    pthread_mutex_lock(&flights.lock);
    pthread_cond_signal(&flights.wake);
    pthread_mutex_unlock(&flights.lock);
}

static void progress_make(void)
{
    if (atomic_flag_test_and_set_explicit(&flights.looking, memory_order_acquire))
        return;
    if (gate_enter()) {
        omprma_progress();
        gate_leave();
    }
    atomic_flag_clear_explicit(&flights.looking, memory_order_release);
}

/* Where the first one is that has not arrived. */
static void first_say_end(void)
{
    const struct flight *first;
    const struct location *where = NULL;
    pthread_mutex_lock(&flights.lock);
    first = TAILQ_FIRST(&flights.air);
    if (first)
        where = first->work->where;
    pthread_mutex_unlock(&flights.lock);
    if (first)
        flight_say_end(where);
}

bool flight_look(void)
{
    struct flight_list all = STAILQ_HEAD_INITIALIZER(all);
    if (!flight_any())
        return false;
    if (atomic_load(&flights.arrivals) == 0)
        progress_make();
    if (atomic_load(&flights.arrivals) > 0)
        arrived_take(&all);
    if (!STAILQ_EMPTY(&all)) {
        flight_wait_end();
        arrived_land(&all);
        flight_wait_begin();
        return true;
    }
    if (atomic_load(&flights.end_ns))
        first_say_end();
    return false;
}

/* ---- the thread that lets land what nobody else does ---------------------------------------- */

static _Thread_local bool is_ours, has_begun;

bool flight_thread_is_ours(void)
{
    return is_ours;
}

/* Never ends: libomp, which may know this thread, would end beside it. */
static void *thread_run(void *context)
{
    struct flight_list all = STAILQ_HEAD_INITIALIZER(all);
    (void)context;
    is_ours = true;
    for (;;) {
        pthread_mutex_lock(&flights.lock);
        while (atomic_load(&flights.arrivals) == 0 || atomic_load(&flights.waiting) > 0)
            pthread_cond_wait(&flights.wake, &flights.lock);
        pthread_mutex_unlock(&flights.lock);
        has_begun = false;
        arrived_take(&all);
        arrived_land(&all);
        if (has_begun) /* nothing else comes from here that could leave with it */
            progress_make();
        nap(has_begun ? LEAST_NAP_NS : MOST_NAP_NS);
    }
    return NULL;
}

/* Without it, what is in flight lands when the program waits. The caller holds the lock. */
static void thread_make(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    flights.made = pthread_create(&thread, NULL, thread_run, NULL) == 0;
    if (flights.made)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- departure and arrival ------------------------------------------------------------------ */

static void line_notify(struct flight_line *line, omprma_queue_t *queue);

/* Those that were told of, the first of the line. The caller holds the lock. */
static void line_move(struct flight_line *line)
{
    for (; line->told > 0; line->told--, line->count--) {
        struct flight *flight = STAILQ_FIRST(&line->flights);
        STAILQ_REMOVE_HEAD(&line->flights, next);
        TAILQ_REMOVE(&flights.air, flight, air);
        STAILQ_INSERT_TAIL(&flights.arrived, flight, next);
        atomic_fetch_add(&flights.arrivals, 1);
    }
}

/* Well or not: each says so when it lands. A line that is one flight's may be gone when the lock is
 * released. */
static void line_arrived(void *data, omprma_status_t status)
{
    struct flight_line *line = data;
    (void)status;
    pthread_mutex_lock(&flights.lock);
    omprma_queue_t *queue = STAILQ_FIRST(&line->flights)->work->queue;
    line_move(line);
    bool more = line->count > 0, last = TAILQ_EMPTY(&flights.air);
    line->told = line->count;
    if (atomic_load(&flights.waiting) == 0)
        pthread_cond_signal(&flights.wake);
    pthread_mutex_unlock(&flights.lock);
    if (last)
        omprma_progress_thread(-1);
    if (more)
        line_notify(line, queue);
}

/* Where there is no memory for that, whoever lets them land waits for them. */
static void line_notify(struct flight_line *line, omprma_queue_t *queue)
{
    omprma_status_t status = omprma_queue_notify_gathered(queue, line_arrived, line);
    if (status != OMPRMA_OK)
        line_arrived(line, status);
}

/* The line of the flight's queue. The caller holds the lock. */
static struct flight_line *line_of(struct flight *flight)
{
    const struct work *work = flight->work;
    struct flight_line *line = &flight->alone;
    if (work->slot >= 0)
        line = &work->device->lines[work->slot];
    else
        line->count = line->told = 0;
    if (line->count == 0)
        STAILQ_INIT(&line->flights);
    return line;
}

/* The line, if omprma is to be asked for it; `*only`: nothing else is in the air. */
static struct flight_line *take_off(struct flight *flight, bool *only)
{
    pthread_mutex_lock(&flights.lock);
    struct flight_line *line = line_of(flight);
    bool ask = line->count == 0;
    *only = TAILQ_EMPTY(&flights.air);
    TAILQ_INSERT_TAIL(&flights.air, flight, air);
    STAILQ_INSERT_TAIL(&line->flights, flight, next);
    line->count++;
    line->told += ask;
    if (!flights.made)
        thread_make();
    pthread_mutex_unlock(&flights.lock);
    return ask ? line : NULL;
}

void flight_begin(struct flight *flight, struct work *work)
{
    omprma_queue_t *queue = work->queue;
    bool only;
    flight->work = work;
    if (!gate_enter()) /* the process ends */
        return;
    has_begun = true;
    atomic_fetch_add_explicit(&flights.own, 1, memory_order_relaxed);
    struct flight_line *line = take_off(flight, &only);
    if (only)
        omprma_progress_thread(1);
    if (line)
        line_notify(line, queue);
    gate_leave();
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

/* What the program printed last may still be in stdout's memory. */
void flight_say_end(const struct location *where)
{
    static atomic_bool said;
    int64_t began = atomic_load(&flights.end_ns);
    if (!began || clock_ns() - began < end_silent_ns || atomic_exchange(&said, true))
        return;
    char place[512] = "compiled without -g";
    location_words(where, place, sizeof(place));
    fflush(stdout);
    fprintf(stderr,
            "omprma: the program has come to its end, and waits for a nowait region that still "
            "runs (%s); Ctrl-C ends it\n",
            place);
}

void flight_end_begins(void)
{
    atomic_store(&flights.end_ns, clock_ns());
}

void flight_end(int most)
{
    int64_t begin = atomic_load(&flights.end_ns);
    flight_wait_begin();
    while (atomic_load_explicit(&flights.count, memory_order_acquire) > most &&
           clock_ns() - begin < end_most_ns)
        if (!flight_look())
            nap(END_NAP_NS);
    flight_wait_end();
    atomic_store(&flights.end_ns, 0);
}
