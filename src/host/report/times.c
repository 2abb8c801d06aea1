/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * times.c: what a worker tells lies between what this side saw of it, however exact the clocks are,
 * so it is moved there where they have drifted apart.
 */
#include "host/report/times.h"

#include <stdatomic.h>
#include <stdlib.h>

#include <omprma_private/times.h>

#include "base/clock.h"
#include "host/core/device.h"
#include "host/queue/queue.h"
#include "host/report/clocks.h"

struct times {
    struct observer observer;
    int64_t ahead_ns[]; /* of this side's clock, by rank */
};

static _Atomic(omprma_times_function *) function;

void omprma_times_want(omprma_times_function *wanted)
{
    atomic_store(&function, wanted);
}

bool times_wanted(void)
{
    return atomic_load(&function) != NULL;
}

static bool has_command(const struct operation *operation)
{
    return operation->kind == OPERATION_COMMAND;
}

static bool is_kernel(const struct operation *operation)
{
    return has_command(operation) &&
           (operation->command.code == WIRE_LAUNCH || operation->command.code == WIRE_REGION);
}

/* Moves data, or runs something. Of a two-sided transfer the half that fills the host's memory, or
 * else the command. */
static bool is_timed(const struct operation *operation)
{
    if (operation->kind == OPERATION_MARK || operation->kind == OPERATION_WAIT)
        return false;
    if (has_command(operation) &&
        (operation->command.code == WIRE_WAIT || operation->command.code == WIRE_GROW))
        return false;
    return !operation_has_command(operation) || operation->fills_host;
}

static void see_appended(struct observer *observer, struct operation *operation, bool was_idle)
{
    (void)observer, (void)was_idle;
    if (!is_timed(operation))
        return;
    operation->times = atomic_load_explicit(&function, memory_order_relaxed)(operation->queue);
    if (!operation->times)
        return;
    *operation->times = (struct omprma_times){.asked_ns = clock_ns()};
    operation->times->begin_ns = operation->times->asked_ns;
    operation->times->kernel = is_kernel(operation);
}

static int64_t between(int64_t first, int64_t at, int64_t last)
{
    return at < first ? first : at > last ? last : at;
}

/* By the worker's clock until here. */
static void place_told(const struct times *times, const struct operation *operation)
{
    struct omprma_times *told = operation->times;
    int64_t ahead = times->ahead_ns[operation->queue->device->peer->rank];
    int64_t begin = told->ran_ns - ahead, end = told->ran_end_ns - ahead;
    int64_t early = told->asked_ns - begin, late = end - told->end_ns;
    int64_t shift = early > 0 ? early : late > 0 ? -late : 0;

    told->ran_ns = between(told->asked_ns, begin + shift, told->end_ns);
    told->ran_end_ns = between(told->ran_ns, end + shift, told->end_ns);
}

static void times_end(const struct observer *observer, struct operation *operation)
{
    if (!operation->times)
        return;
    operation->times->end_ns = clock_ns();
    if (operation->times->ran_ns)
        place_told((const struct times *)observer, operation);
    operation->times = NULL;
}

/* Small submits end for this side when they leave. */
static void see_issued(struct observer *observer, struct operation *operation)
{
    if (operation->times && !operation_is_command(operation))
        operation->times->begin_ns = clock_ns();
    if (operation->kind == OPERATION_WRITE)
        times_end(observer, operation);
}

static void see_ended(struct observer *observer, struct operation *operation)
{
    times_end(observer, operation);
}

static void see_ran(struct observer *observer, struct operation *operation, int64_t begin_ns,
                    int64_t end_ns)
{
    (void)observer;
    if (!operation->times)
        return;
    operation->times->ran_ns = begin_ns;
    operation->times->ran_end_ns = end_ns;
}

omprma_status_t times_open(struct runtime *runtime)
{
    size_t size = (size_t)runtime->world.size;
    struct times *times;

    if (!times_wanted())
        return OMPRMA_OK;
    times = calloc(1, sizeof(*times) + size * sizeof(times->ahead_ns[0]));
    if (!times)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to note when operations run");
    for (size_t rank = 0; rank < size; rank++) {
        struct trace_clock clock = {.within_ns = -1};

        if (runtime->peers[rank] && !runtime->peers[rank]->lost)
            clock = clocks_look(runtime->peers[rank]);
        times->ahead_ns[rank] = clock.ahead_ns;
    }
    times->observer = (struct observer){
        .appended = see_appended, .issued = see_issued, .ran = see_ran, .ended = see_ended};
    runtime->noted = times;
    observer_add(&runtime->observers, &times->observer);
    return OMPRMA_OK;
}

void times_close(struct runtime *runtime)
{
    if (!runtime->noted)
        return;
    observer_remove(&runtime->observers, &runtime->noted->observer);
    free(runtime->noted);
    runtime->noted = NULL;
}
