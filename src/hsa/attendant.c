/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attendant.c: one list, one thread, made when it is first needed. It takes no signals of the
 * process. Nobody waits for it at the end: a handler of the program may never return, and once the
 * gate is closed it touches nothing any more.
 */
#include "hsa/attendant.h"

#include <pthread.h>
#include <signal.h>

#include "face/driver/guard.h"

static struct attendant {
    pthread_mutex_t lock; /* inside of the lock of signals */
    pthread_cond_t ready;
    TAILQ_HEAD(duty_list, watch) list;
    struct watch *taken; /* the last one: where the gate is closed before it runs, it stays, and
                          * tools that look for leaks find it here */
    bool started;
} attendant = {.lock = PTHREAD_MUTEX_INITIALIZER,
               .ready = PTHREAD_COND_INITIALIZER,
               .list = TAILQ_HEAD_INITIALIZER(attendant.list)};

bool attendant_enter(void)
{
    enum guard state = guard_enter();
    return state == GUARD_OPEN || state == GUARD_IN_HOST_CALL;
}

void attendant_leave(void)
{
    guard_leave();
}

static struct watch *attendant_next(void)
{
    struct watch *next = NULL;

    pthread_mutex_lock(&attendant.lock);
    while (!(next = TAILQ_FIRST(&attendant.list)))
        pthread_cond_wait(&attendant.ready, &attendant.lock);
    TAILQ_REMOVE(&attendant.list, next, link);
    attendant.taken = next;
    pthread_mutex_unlock(&attendant.lock);
    return next;
}

static void *attendant_run(void *unused)
{
    for (;;) {
        struct watch *next = attendant_next();
        if (!attendant_enter())
            return unused;
        next->run(next);
        attendant_leave();
    }
}

/* In a forked child there is no such thread. */
static void attendant_forget_all(void)
{
    pthread_mutex_init(&attendant.lock, NULL);
    pthread_cond_init(&attendant.ready, NULL);
    TAILQ_INIT(&attendant.list);
    attendant.started = false;
}

static bool attendant_create(void)
{
    pthread_t thread;
    sigset_t all, before;
    bool made;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    made = pthread_create(&thread, NULL, attendant_run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made) {
        pthread_detach(thread);
        pthread_atfork(NULL, NULL, attendant_forget_all);
    }
    return made;
}

bool attendant_start(void)
{
    bool started;

    pthread_mutex_lock(&attendant.lock);
    if (!attendant.started)
        attendant.started = attendant_create();
    started = attendant.started;
    pthread_mutex_unlock(&attendant.lock);
    return started;
}

void attendant_give(struct watch *watch)
{
    pthread_mutex_lock(&attendant.lock);
    TAILQ_INSERT_TAIL(&attendant.list, watch, link);
    pthread_cond_signal(&attendant.ready);
    pthread_mutex_unlock(&attendant.lock);
}

void attendant_forget(const struct signal *signal)
{
    struct watch *watch = NULL;

    pthread_mutex_lock(&attendant.lock);
    TAILQ_FOREACH(watch, &attendant.list, link)
    {
        if (watch->signal == signal)
            watch->signal = NULL;
    }
    pthread_mutex_unlock(&attendant.lock);
}
