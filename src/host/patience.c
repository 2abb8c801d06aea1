/* patience.c: see patience.h. */
#include "host/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/progress_line.h"

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
    progress_line_allow(false);
    log_write(LOG_ERROR, "%s did not get past %s within %g s; %s; OMPRMA_TIMEOUT sets the limit",
              patience->phase, patience->step, (double)patience->limit_ns / (double)second_ns,
              patience->advice);
    patience_exit();
}

static int64_t look(void *data)
{
    const struct patience *patience = data;

    if (patience->deadline_ns && clock_ns() >= patience->deadline_ns)
        give_up(patience);
    return patience->deadline_ns ? patience->deadline_ns : WATCH_WHEN_TOLD;
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
    *patience = (struct patience){.phase = phase, .advice = advice};
    begin_step(patience, step, limit_ns);
    patience->watched = watch_begin(&patience->watch, look, patience);
    if (!patience->watched)
        log_write(LOG_DETAIL, "%s is not watched: no thread can be made", phase);
}

void patience_next(struct patience *patience, const char *step, int64_t limit_ns)
{
    if (!patience->watched)
        return;
    watch_lock(&patience->watch);
    begin_step(patience, step, limit_ns);
    watch_tell(&patience->watch);
}

void patience_end(struct patience *patience)
{
    if (patience->watched)
        watch_end(&patience->watch);
}
