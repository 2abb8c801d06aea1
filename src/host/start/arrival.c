/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* arrival.c: a watch reads the shared count and prints a progress line. */
#include "host/start/arrival.h"

#include <stdatomic.h>

#include "base/coming.h"
#include "base/progress_line.h"
#include "base/units.h"
#include "base/watch.h"
#include "host/start/supervisor.h"

enum { EACH_NS = 100000000 };

static struct watch watch; /* of the process, as the terminal is */

static void look(void *data)
{
    const struct coming *coming = data;
    int up = atomic_load(&coming->up), workers = coming->workers;

    if (up < workers)
        progress_line_show("omprma: %d of %d worker%s up", up, workers,
                           workers == 1 ? " is" : "s are");
    else
        progress_line_show("omprma: connecting %d worker%s", workers, units_plural(workers));
}

void arrival_begin(void)
{
    struct coming *coming = supervisor_coming();

    if (!coming)
        return;
    progress_line_begin();
    watch_begin(&watch, EACH_NS, look, coming);
}

void arrival_end(void)
{
    watch_end(&watch);
    progress_line_clear();
}
