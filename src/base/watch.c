/*
 * watch.c: A thread that sleeps on a condition variable until the time that the last look gave, or
 * until it is told. It has all signals blocked, since handlers are the program's.
 */
#include "base/watch.h"

#include <signal.h>
#include <time.h>

#include "base/clock.h"

/* Until the time of the next look, or until told. With the lock held. */
static void pause_until(struct watch *watch, int64_t until)
{
    struct timespec time = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};

    while (!watch->over && !watch->told) {
        if (until == WATCH_WHEN_TOLD)
            pthread_cond_wait(&watch->changed, &watch->lock);
        else if (clock_ns() < until)
            pthread_cond_timedwait(&watch->changed, &watch->lock, &time);
        else
            return;
    }
}

static void *watch_main(void *data)
{
    struct watch *watch = data;

    pthread_mutex_lock(&watch->lock);
    while (!watch->over) {
        int64_t until;

        watch->told = false;
        until = watch->look(watch->data);
        if (until == WATCH_END)
            break;
        pause_until(watch, until);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

static void destroy(struct watch *watch)
{
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->lock);
}

bool watch_begin(struct watch *watch, int64_t (*look)(void *data), void *data)
{
    pthread_condattr_t attributes;
    sigset_t all, before;
    int code;

    *watch = (struct watch){.look = look, .data = data};
    pthread_mutex_init(&watch->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&watch->thread, NULL, watch_main, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        destroy(watch);
    return code == 0;
}

void watch_lock(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
}

void watch_tell(struct watch *watch)
{
    watch->told = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
}

void watch_end(struct watch *watch)
{
    watch_lock(watch);
    watch->over = true;
    watch_tell(watch);
    pthread_join(watch->thread, NULL);
    destroy(watch);
}
