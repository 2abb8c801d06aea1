/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* notes.c: numbers wait in the runtime until the recording ends. */
#include <omprma_private/notes.h>

#include "host/core/observer.h"
#include "host/core/runtime.h"
#include "report/report.h"

static void note(_Atomic uint64_t *number, uint64_t value)
{
    atomic_store_explicit(number, value, memory_order_relaxed);
}

void omprma_note_repeated(uint64_t regions)
{
    struct runtime *runtime = runtime_get();

    if (runtime)
        atomic_fetch_add_explicit(&runtime->repeated, regions, memory_order_relaxed);
}

void omprma_note_graph(uint64_t regions, uint64_t longest, uint64_t least_bytes)
{
    struct runtime *runtime = runtime_get();

    if (!runtime)
        return;
    note(&runtime->graph.regions, regions);
    note(&runtime->graph.longest, longest);
    note(&runtime->graph.least_bytes, least_bytes);
}

void omprma_note_wait(bool begins)
{
    struct runtime *runtime = runtime_get();

    if (!runtime || !report_is_wanted(&runtime->config))
        return;
    runtime_lock(runtime);
    observe_rests(runtime->observers, begins);
    runtime_unlock(runtime);
}
