/*
 * arrival.c: the thread is one of watch.h, which reads the shared count and prints a progress
 * line.
 */
#include "host/start/arrival.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/coming.h"
#include "base/progress_line.h"
#include "base/watch.h"
#include "host/start/launcher.h"

enum { EACH_NS = 100000000 };

/* Of the process, as the terminal is. */
static struct {
    struct watch watch;
    struct coming *coming; /* NULL: nothing is drawn */
    bool watched;
} arrival;

static int64_t look(void *data)
{
    int up = atomic_load(&arrival.coming->up), workers = arrival.coming->workers;

    (void)data;
    if (up < workers)
        progress_line_show("omprma: %d of %d workers are up", up, workers);
    else
        progress_line_show("omprma: connecting %d worker%s", workers, workers == 1 ? "" : "s");
    return clock_ns() + EACH_NS;
}

void arrival_begin(void)
{
    arrival.coming = launcher_coming();
    if (!arrival.coming)
        return;
    progress_line_begin();
    arrival.watched = watch_begin(&arrival.watch, look, NULL);
}

void arrival_end(void)
{
    if (arrival.watched)
        watch_end(&arrival.watch);
    arrival.watched = false;
    arrival.coming = NULL;
    progress_line_clear();
}
