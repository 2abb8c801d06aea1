/*
 * deadline.c: the thread is one of watch.h, which sleeps until the limit of the step is reached,
 * and then ends the process.
 */
#include "host/start/deadline.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/progress_line.h"

static const int64_t second_ns = 1000000000;

/* Nothing is waited for, not even the lock of stdout. */
void deadline_exit(void)
{
    if (ftrylockfile(stdout) == 0)
        fflush_unlocked(stdout);
    _exit(EXIT_FAILURE);
}

static void give_up(const struct deadline *deadline) __attribute__((noreturn));
static void give_up(const struct deadline *deadline)
{
    progress_line_allow(false);
    log_write(LOG_ERROR, "%s did not get past %s within %g s; %s; OMPRMA_TIMEOUT sets the limit",
              deadline->phase, deadline->step, (double)deadline->limit_ns / (double)second_ns,
              deadline->advice);
    deadline_exit();
}

static int64_t look(void *data)
{
    const struct deadline *deadline = data;

    if (deadline->deadline_ns && clock_ns() >= deadline->deadline_ns)
        give_up(deadline);
    return deadline->deadline_ns ? deadline->deadline_ns : WATCH_WHEN_TOLD;
}

static void begin_step(struct deadline *deadline, const char *step, int64_t limit_ns)
{
    deadline->step = step;
    deadline->limit_ns = limit_ns;
    deadline->deadline_ns = limit_ns > 0 ? clock_ns() + limit_ns : 0;
}

void deadline_begin(struct deadline *deadline, const char *phase, const char *advice,
                    const char *step, int64_t limit_ns)
{
    *deadline = (struct deadline){.phase = phase, .advice = advice};
    begin_step(deadline, step, limit_ns);
    deadline->watched = watch_begin(&deadline->watch, look, deadline);
    if (!deadline->watched)
        log_write(LOG_DETAIL, "%s is not watched: no thread can be made", phase);
}

void deadline_next(struct deadline *deadline, const char *step, int64_t limit_ns)
{
    if (!deadline->watched)
        return;
    watch_lock(&deadline->watch);
    begin_step(deadline, step, limit_ns);
    watch_tell(&deadline->watch);
}

void deadline_end(struct deadline *deadline)
{
    if (deadline->watched)
        watch_end(&deadline->watch);
}
