/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watch.c: A thread begins with the first watch and ends with the last one. It sleeps on a
 * condition variable until a look is due, or until the list of watches has changed. It has all
 * signals blocked, since handlers are the program's.
 */
#include "base/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "base/clock.h"

static struct {
    pthread_mutex_t lock;   /* held during looks, too */
    pthread_cond_t changed; /* the list has */
    pthread_t thread;
    struct watch *first; /* NULL: there is no thread */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns when the next look is due. */
static int64_t look_at_all(int64_t now)
{
    int64_t next = INT64_MAX;

    for (struct watch *watch = all.first; watch; watch = watch->next) {
        if (now >= watch->due_ns) {
            watch->due_ns = now + watch->each_ns;
            watch->look(watch->data);
        }
        if (watch->due_ns < next)
            next = watch->due_ns;
    }
    return next;
}

static void *watch_main(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&all.lock);
    while (all.first) {
        int64_t next = look_at_all(clock_ns());
        struct timespec until = {.tv_sec = next / 1000000000, .tv_nsec = next % 1000000000};

        pthread_cond_timedwait(&all.changed, &all.lock, &until);
    }
    pthread_mutex_unlock(&all.lock);
    return NULL;
}

static bool make_thread(void)
{
    pthread_condattr_t attributes;
    sigset_t signals, before;
    int code;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&all.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&signals);
    pthread_sigmask(SIG_SETMASK, &signals, &before);
    code = pthread_create(&all.thread, NULL, watch_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        pthread_cond_destroy(&all.changed);
    return code == 0;
}

bool watch_begin(struct watch *watch, int64_t each_ns, void (*look)(void *data), void *data)
{
    bool made;

    pthread_mutex_lock(&all.lock);
    *watch = (struct watch){.next = all.first, .look = look, .data = data, .each_ns = each_ns};
    all.first = watch;
    made = watch->next || make_thread();
    if (made)
        pthread_cond_signal(&all.changed);
    else
        all.first = NULL;
    pthread_mutex_unlock(&all.lock);
    return made;
}

void watch_end(struct watch *watch)
{
    struct watch **at = &all.first;
    bool last;

    pthread_mutex_lock(&all.lock);
    last = all.first == watch && !watch->next;
    while (*at && *at != watch)
        at = &(*at)->next;
    if (*at)
        *at = watch->next;
    if (last)
        pthread_cond_signal(&all.changed);
    pthread_mutex_unlock(&all.lock);
    if (!last)
        return;
    pthread_join(all.thread, NULL);
    pthread_cond_destroy(&all.changed);
}
