/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attendant.c: two lists, each with a thread, made when it is first needed. They take no signals of
 * the process. Nobody waits for them at the end: a handler of the program may never return, and
 * once the gate is closed they touch nothing any more.
 */
#include "hsa/attendant.h"

#include <pthread.h>
#include <signal.h>

#include "face/driver/guard.h"

#define ATTENDANT(name)                                                                            \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .ready = PTHREAD_COND_INITIALIZER,                      \
        .list = TAILQ_HEAD_INITIALIZER((name).list)                                                \
    }
static struct attendant {
    pthread_mutex_t lock; /* inside of the lock of signals */
    pthread_cond_t ready;
    TAILQ_HEAD(duty_list, watch) list;
    struct watch *taken; /* the last one: where the gate is closed before it runs, it stays, and
                          * tools that look for leaks find it here */
    bool started;
} attendant = ATTENDANT(attendant), caller = ATTENDANT(caller);

bool attendant_enter(void)
{
    enum guard state = guard_enter();
    return state == GUARD_OPEN || state == GUARD_IN_HOST_CALL;
}

void attendant_leave(void)
{
    guard_leave();
}

static struct attendant *attendant_for(bool calls_program)
{
    return calls_program ? &caller : &attendant;
}

static struct watch *next_duty(struct attendant *self)
{
    struct watch *next = NULL;

    pthread_mutex_lock(&self->lock);
    while (!(next = TAILQ_FIRST(&self->list)))
        pthread_cond_wait(&self->ready, &self->lock);
    TAILQ_REMOVE(&self->list, next, link);
    self->taken = next;
    pthread_mutex_unlock(&self->lock);
    return next;
}

static void *attendant_run(void *data)
{
    struct attendant *self = data;

    for (;;) {
        struct watch *next = next_duty(self);
        if (!attendant_enter())
            return NULL;
        next->run(next);
        attendant_leave();
    }
}

static void start_over(struct attendant *self)
{
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->ready, NULL);
    TAILQ_INIT(&self->list);
    self->started = false;
}

/* In a forked child there are no such threads. */
static void attendants_start_over(void)
{
    start_over(&attendant);
    start_over(&caller);
}

static bool attendant_create(struct attendant *self)
{
    pthread_t thread;
    sigset_t all, before;
    bool made;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    made = pthread_create(&thread, NULL, attendant_run, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made) {
        pthread_detach(thread);
        pthread_atfork(NULL, NULL, attendants_start_over);
    }
    return made;
}

bool attendant_start(bool calls_program)
{
    struct attendant *self = attendant_for(calls_program);
    bool started;

    pthread_mutex_lock(&self->lock);
    if (!self->started)
        self->started = attendant_create(self);
    started = self->started;
    pthread_mutex_unlock(&self->lock);
    return started;
}

void attendant_give(struct watch *watch)
{
    struct attendant *self = attendant_for(watch->calls_program);

    pthread_mutex_lock(&self->lock);
    TAILQ_INSERT_TAIL(&self->list, watch, link);
    pthread_cond_signal(&self->ready);
    pthread_mutex_unlock(&self->lock);
}

static void forget(struct attendant *self, const struct signal *signal)
{
    struct watch *watch = NULL;

    pthread_mutex_lock(&self->lock);
    TAILQ_FOREACH(watch, &self->list, link)
    {
        if (watch->signal == signal)
            watch->signal = NULL;
    }
    pthread_mutex_unlock(&self->lock);
}

void attendant_forget(const struct signal *signal)
{
    forget(&attendant, signal);
    forget(&caller, signal);
}
