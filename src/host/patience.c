/* patience.c: see patience.h. */
#include "host/patience.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

static const int64_t second_ns = 1000000000;

/* Nothing is waited for, not even the lock of stdout. */
void patience_exit(void)
{
    if (ftrylockfile(stdout) == 0)
        fflush_unlocked(stdout);
    _exit(EXIT_FAILURE);
}

static void give_up(const struct patience *patience) __attribute__((noreturn));
static void give_up(const struct patience *patience)
{
    log_write(LOG_ERROR, "%s did not get past %s within %g s; %s; OMPRMA_TIMEOUT sets the limit",
              patience->phase, patience->step, (double)patience->limit_ns / (double)second_ns,
              patience->advice);
    patience_exit();
}

static void *watch(void *data)
{
    struct patience *patience = data;

    pthread_mutex_lock(&patience->lock);
    while (!patience->over) {
        int64_t until = patience->deadline_ns;
        struct timespec time = {.tv_sec = until / second_ns, .tv_nsec = until % second_ns};

        if (until == 0)
            pthread_cond_wait(&patience->changed, &patience->lock);
        else if (clock_ns() >= until)
            give_up(patience);
        else
            pthread_cond_timedwait(&patience->changed, &patience->lock, &time);
    }
    pthread_mutex_unlock(&patience->lock);
    return NULL;
}

static void begin_step(struct patience *patience, const char *step, int64_t limit_ns)
{
    patience->step = step;
    patience->limit_ns = limit_ns;
    patience->deadline_ns = limit_ns > 0 ? clock_ns() + limit_ns : 0;
}

void patience_begin(struct patience *patience, const char *phase, const char *advice,
                    const char *step, int64_t limit_ns)
{
    pthread_condattr_t attributes;
    sigset_t all, before;

    *patience = (struct patience){.phase = phase, .advice = advice};
    begin_step(patience, step, limit_ns);
    pthread_mutex_init(&patience->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&patience->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    patience->running = pthread_create(&patience->thread, NULL, watch, patience) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!patience->running)
        log_write(LOG_DETAIL, "%s is not watched: no thread can be made", phase);
}

void patience_next(struct patience *patience, const char *step, int64_t limit_ns)
{
    pthread_mutex_lock(&patience->lock);
    begin_step(patience, step, limit_ns);
    pthread_cond_signal(&patience->changed);
    pthread_mutex_unlock(&patience->lock);
}

void patience_end(struct patience *patience)
{
    pthread_mutex_lock(&patience->lock);
    patience->over = true;
    pthread_cond_signal(&patience->changed);
    pthread_mutex_unlock(&patience->lock);
    if (patience->running)
        pthread_join(patience->thread, NULL);
    pthread_cond_destroy(&patience->changed);
    pthread_mutex_destroy(&patience->lock);
}
