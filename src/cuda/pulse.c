/* pulse.c: see pulse.h. */
#include "cuda/pulse.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "cuda/stream.h"

enum {
    BEATS_SPARED = 5, /* a stream that is added to all the time is sent from after so many */
    BEATS_IDLE = 50   /* without any work; then the thread sleeps until it is woken */
};

static struct pulse {
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    TAILQ_HEAD(, stream) streams; /* held */
    pthread_t thread;
    bool started, ended;
    bool asleep; /* until it is woken */
    atomic_int waiting;
} pulse = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .wanted = PTHREAD_COND_INITIALIZER,
           .streams = TAILQ_HEAD_INITIALIZER(pulse.streams)};

void pulse_rest(void)
{
    atomic_fetch_add_explicit(&pulse.waiting, 1, memory_order_relaxed);
}

void pulse_resume(void)
{
    atomic_fetch_sub_explicit(&pulse.waiting, 1, memory_order_relaxed);
}

/* Is its work over, as far as this thread can see? */
static bool stream_beat(struct stream *stream)
{
    uint64_t issued = atomic_load(&stream->issued);
    bool done = false;

    if (stream_is_settled(stream))
        return true;
    if (issued != stream->beat_issued && ++stream->beats < BEATS_SPARED) {
        stream->beat_issued = issued;
        return false;
    }
    stream->beat_issued = issued;
    stream->beats = 0;
    if (atomic_load_explicit(&pulse.waiting, memory_order_relaxed) > 0) {
        omprma_queue_flush(stream->queue);
        return false;
    }
    return omprma_queue_query(stream->queue, &done) != OMPRMA_OK || done;
}

/* All streams once. Without the lock while omprma is called: a function of the program that is
 * called there may put something into a stream. */
static void pulse_beat(void)
{
    TAILQ_HEAD(, stream) all = TAILQ_HEAD_INITIALIZER(all);
    struct stream *each;

    TAILQ_CONCAT(&all, &pulse.streams, beat);
    while ((each = TAILQ_FIRST(&all))) {
        TAILQ_REMOVE(&all, each, beat);
        pthread_mutex_unlock(&pulse.lock);
        bool over = stream_beat(each);
        pthread_mutex_lock(&pulse.lock);
        if (over) {
            atomic_store(&each->beating, false);
            pthread_mutex_unlock(&pulse.lock);
            stream_drop(each);
            pthread_mutex_lock(&pulse.lock);
        } else {
            TAILQ_INSERT_TAIL(&pulse.streams, each, beat);
        }
    }
}

static void *pulse_run(void *unused)
{
    static const struct timespec between = {.tv_nsec = PULSE_US * 1000};
    int idle = 0;

    pthread_mutex_lock(&pulse.lock);
    while (!pulse.ended) {
        if (!TAILQ_EMPTY(&pulse.streams)) {
            idle = 0;
            pulse_beat();
        } else if (++idle > BEATS_IDLE) {
            pulse.asleep = true;
            pthread_cond_wait(&pulse.wanted, &pulse.lock);
            pulse.asleep = false;
            idle = 0;
        }
        pthread_mutex_unlock(&pulse.lock);
        nanosleep(&between, NULL);
        pthread_mutex_lock(&pulse.lock);
    }
    pthread_mutex_unlock(&pulse.lock);
    return unused;
}

/* Signals are the program's. */
static void pulse_start(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pulse.started = pthread_create(&pulse.thread, NULL, pulse_run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void pulse_watch(struct stream *stream)
{
    if (atomic_exchange(&stream->beating, true))
        return;
    stream_hold(stream);
    pthread_mutex_lock(&pulse.lock);
    stream->beats = 0;
    TAILQ_INSERT_TAIL(&pulse.streams, stream, beat);
    if (!pulse.started && !pulse.ended)
        pulse_start();
    if (pulse.asleep)
        pthread_cond_signal(&pulse.wanted);
    pthread_mutex_unlock(&pulse.lock);
}

void pulse_end(void)
{
    pthread_mutex_lock(&pulse.lock);
    bool started = pulse.started;
    pulse.started = false;
    pulse.ended = true;
    pthread_cond_signal(&pulse.wanted);
    pthread_mutex_unlock(&pulse.lock);
    if (started)
        pthread_join(pulse.thread, NULL);
}
