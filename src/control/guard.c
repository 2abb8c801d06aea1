/* guard.c: see guard.h. */
#include "control/guard.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"

/* Looks are counted, not time: a process that was stopped for long has looked once meanwhile. */
enum { LOOKS_PER_LIMIT = 8 };

/* Until the next look, or the end. With the lock held. */
static void pause_for(struct guard *guard, int64_t ns)
{
    int64_t until = clock_ns() + ns, second = 1000000000;
    struct timespec time = {.tv_sec = until / second, .tv_nsec = until % second};

    while (!guard->over && clock_ns() < until)
        pthread_cond_timedwait(&guard->changed, &guard->lock, &time);
}

static void *watch(void *data)
{
    struct guard *guard = data;
    uint64_t seen = 0;
    int looks = 0;

    pthread_mutex_lock(&guard->lock);
    while (!guard->over) {
        uint64_t calls = atomic_load_explicit(&guard->calls, memory_order_acquire);

        if (calls != seen || calls % 2 == 0)
            looks = 0;
        seen = calls;
        if (looks++ > LOOKS_PER_LIMIT) {
            guard->expired(guard->data, atomic_load(&guard->peer));
            break;
        }
        pause_for(guard, guard->limit_ns / LOOKS_PER_LIMIT);
    }
    pthread_mutex_unlock(&guard->lock);
    return NULL;
}

omprma_status_t guard_create(int64_t limit_ns, void (*expired)(void *data, int peer), void *data,
                             struct guard **out)
{
    struct guard *guard = calloc(1, sizeof(*guard));
    pthread_condattr_t attributes;
    sigset_t all, before;
    int code;

    if (!guard)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to watch calls of MPI");
    guard->limit_ns = limit_ns;
    guard->expired = expired;
    guard->data = data;
    pthread_mutex_init(&guard->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&guard->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&guard->thread, NULL, watch, guard);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) {
        pthread_cond_destroy(&guard->changed);
        pthread_mutex_destroy(&guard->lock);
        free(guard);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no thread can be made to watch calls of MPI");
    }
    *out = guard;
    return OMPRMA_OK;
}

void guard_destroy(struct guard *guard)
{
    if (!guard)
        return;
    pthread_mutex_lock(&guard->lock);
    guard->over = true;
    pthread_cond_signal(&guard->changed);
    pthread_mutex_unlock(&guard->lock);
    pthread_join(guard->thread, NULL);
    pthread_cond_destroy(&guard->changed);
    pthread_mutex_destroy(&guard->lock);
    free(guard);
}
