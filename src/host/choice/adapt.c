/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * adapt.c: each direction of a kind of peers has a threshold that real transfers correct. One
 * transfer of the process is watched at a time; what spoils its time is found out by counting the
 * transfers that are under way (runtime->moving) and that were ever begun (runtime->moved).
 */
#define _GNU_SOURCE
#include "host/choice/adapt.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "host/choice/cost.h"

#define NEVER UINT64_MAX /* no number of transfers: the time says nothing */

/* What takes so many times what was expected, and so long, has waited for a processor. */
static const double disturbed_times = 16, disturbed_us = 20;

static const char *const direction_names[PATHS_DIRECTIONS] = {"submit", "retrieve"};

static enum paths_direction direction_of(const struct operation *operation)
{
    return operation->fills_host ? PATHS_RETRIEVE : PATHS_SUBMIT;
}

/* ---- begin and end ---- */

void adapt_begin(struct device *device)
{
    struct runtime *runtime = device->runtime;
    struct adapt_kind *kind = calloc(1, sizeof(*kind));
    bool here = device->peer->can_ring || runtime->adopted;

    if (!kind)
        return;
    snprintf(kind->name, sizeof(kind->name), "%s%s", here ? "this host" : "host ",
             here ? "" : device->peer->hello.host);
    for (int direction = 0; direction < PATHS_DIRECTIONS; direction++)
        threshold_begin(&kind->threshold[direction], device->paths.rma_from[direction],
                        cost_two_sided_ratio(device->paths.near));
    kind->next = runtime->kinds;
    runtime->kinds = kind;
    device->paths.adapt = kind;
}

static void stop_watching(struct adapt_watch *watch)
{
    struct runtime *runtime = watch->operation->queue->device->runtime;

    observer_remove(&runtime->observers, &watch->observer);
    operation_drop(&runtime->operations, watch->operation);
    watch->operation = NULL;
}

void adapt_end(struct runtime *runtime)
{
    if (runtime->watch.operation)
        stop_watching(&runtime->watch);
    while (runtime->kinds) {
        struct adapt_kind *kind = runtime->kinds;

        runtime->kinds = kind->next;
        free(kind);
    }
}

/* ---- what may be timed ---- */

/* Whether its turn may come long after it could be had: it waits for other queues. */
static bool may_be_held(const struct omprma_queue *queue)
{
    for (const struct operation *o = queue->first; o; o = o->next)
        if (o->kind == OPERATION_WAIT || o->kind == OPERATION_TASK)
            return true;
    return false;
}

/* Behind others of its queue it will be seen later whether data of other queues is under way. */
static bool can_time(const struct omprma_queue *queue)
{
    struct runtime *runtime = queue->device->runtime;

    return !runtime->watch.operation && !may_be_held(queue) && !queue->device->lost &&
           (runtime->moving == 0 || !queue_is_idle(queue));
}

const struct path_ops *adapt_pick(const struct hop *hop, const struct path_ops *path, bool *timed)
{
    struct omprma_queue *queue = hop->queue;
    struct adapt_kind *kind = queue->device->paths.adapt;
    struct threshold *threshold;
    bool one_sided = path == &path_put_get;

    *timed = false;
    if (!kind || hop->bytes <= OMPRMA_COPIED_SUBMIT || (!one_sided && path != &path_two_sided) ||
        !path_put_get.takes(hop))
        return path;
    threshold = &kind->threshold[hop_is_submit(hop) ? PATHS_SUBMIT : PATHS_RETRIEVE];
    *timed = threshold_is_due(threshold, hop->bytes) && can_time(queue);
    if (!*timed)
        return path;
    one_sided ^= threshold_next(threshold, hop->bytes);
    queue->device->runtime->watch =
        (struct adapt_watch){.one_sided = one_sided, .asked_ns = clock_ns()};
    return one_sided ? &path_put_get : &path_two_sided;
}

/* ---- the transfer that is timed ---- */

static struct adapt_watch *watch_of(struct observer *observer)
{
    return (struct adapt_watch *)observer; /* its first member */
}

/* The first of its queue: one that stands behind a launch begins when that is over. */
static bool is_first(const struct operation *operation)
{
    const struct operation *o = operation->queue->first;

    while (o && (o->kind == OPERATION_MARK ||
                 (operation_has_command(operation) && o == operation->move.command)))
        o = o->next;
    return o == operation;
}

/* Nothing of other queues is under way. */
static bool is_alone(const struct omprma_queue *queue)
{
    uint32_t own = 0;

    for (const struct operation *o = queue->active; o; o = o->next_active)
        own++;
    return queue->device->runtime->moving == own;
}

/* It is under way, if nothing else of its queue is before it any more. */
static void begin_if_first(struct adapt_watch *watch)
{
    const struct omprma_queue *queue = watch->operation->queue;
    const struct runtime *runtime = queue->device->runtime;
    bool waited;

    if (watch->begun_ns || !is_first(watch->operation))
        return;
    waited = watch->waited || (queue->waiters && runtime->driven); /* a query does not drive */
    /* What a call takes until data is under way counts, as it does for a message. */
    watch->begun_ns = watch->waited ? watch->asked_ns : clock_ns();
    watch->begun = waited && is_alone(queue) ? runtime->moved - watch->own : NEVER;
}

/* The worker is on this thread's processor, though there are others: the scheduler will part them.
 * Until then what needs the worker takes as long as it takes to be let in, and says nothing about
 * later. */
static bool is_cramped(const struct device *device)
{
    const struct peer *peer = device->peer;
    cpu_set_t allowed;
    int cpu = sched_getcpu();

    return peer->can_ring && cpu >= 0 && doorbell_cpu(device->runtime->bells[peer->rank]) == cpu &&
           sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 1;
}

/* ---- what follows ---- */

/* The trial that has just ended says why. */
static void say_revision(const struct adapt_kind *kind, enum paths_direction direction)
{
    const struct threshold *threshold = &kind->threshold[direction];
    const struct threshold_trial *trial = &threshold->trial;
    bool one_sided = trial->bytes >= threshold->rma_from;
    char size[32];

    log_write(LOG_CHOICE, "%ss %s %s, %s: %s in place of %s: %.1f us in place of %.1f",
              direction_names[direction], one_sided ? "from" : "below",
              paths_size(threshold->rma_from, size, sizeof(size)), kind->name,
              paths_names[one_sided ? PATH_RMA : PATH_TWO_SIDED],
              paths_names[one_sided ? PATH_TWO_SIDED : PATH_RMA], trial->there_us, trial->here_us);
}

/* All devices of the kind follow, whoever asks. */
static void follow(const struct runtime *runtime, const struct adapt_kind *kind,
                   enum paths_direction direction)
{
    for (int i = 0; i < runtime->device_count; i++)
        if (runtime->devices[i]->paths.adapt == kind)
            runtime->devices[i]->paths.rma_from[direction] = kind->threshold[direction].rma_from;
    say_revision(kind, direction);
}

/* As if the transfer had the least size of its trial. */
static double scaled(const struct cost *cost, uint64_t bytes, double us)
{
    uint64_t least = threshold_size(bytes);
    double whole = cost_at(cost, bytes);

    return us * (whole > 0 ? cost_at(cost, least) / whole : (double)least / (double)bytes);
}

/* Two such samples in a row would end a trial; of the present path the least of three counts, and
 * what was expected of it may be what is wrong. */
static bool is_disturbed(const struct threshold *threshold, bool one_sided, double us,
                         double expected)
{
    bool other = one_sided != (threshold->trial.bytes >= threshold->rma_from);

    return other && expected > 0 && us > disturbed_us && us > disturbed_times * expected;
}

/* The watched transfer is over. */
static void count(const struct device *device, enum paths_direction direction, uint64_t bytes)
{
    const struct adapt_watch *watch = &device->runtime->watch;
    const struct cost *cost =
        &device->paths.cost[direction][watch->one_sided ? PATH_RMA : PATH_TWO_SIDED];
    double us = (double)(clock_ns() - watch->begun_ns) / 1e3, expected = cost_at(cost, bytes);
    struct adapt_kind *kind = device->paths.adapt;
    struct threshold *threshold;

    if (!kind || !watch->begun_ns || watch->begun != device->runtime->moved - watch->own ||
        is_cramped(device))
        return;
    threshold = &kind->threshold[direction];
    if (is_disturbed(threshold, watch->one_sided, us, expected))
        return;
    if (threshold_sample(threshold, watch->one_sided, scaled(cost, bytes, us)))
        follow(device->runtime, kind, direction);
}

/* Transfers of its own queue wait for its end. */
static void see_issued(struct observer *observer, struct operation *operation)
{
    struct adapt_watch *watch = watch_of(observer);

    if (operation == watch->operation)
        begin_if_first(watch);
    if (operation->queue == watch->operation->queue && operation->kind == OPERATION_TRANSFER)
        watch->own++;
}

/* It may have stood behind this one. */
static void see_ended(struct observer *observer, struct operation *operation)
{
    struct adapt_watch *watch = watch_of(observer);

    if (operation != watch->operation) {
        if (watch->operation->state == OPERATION_ISSUED)
            begin_if_first(watch);
        return;
    }
    if (!operation->failure)
        count(operation->queue->device, direction_of(operation), operation->device_bytes);
    stop_watching(watch);
}

void adapt_watch(struct operation *operation, bool waited)
{
    struct runtime *runtime = operation->queue->device->runtime;
    struct adapt_watch *watch = &runtime->watch;

    operation->timed = true;
    watch->operation = operation_hold(operation);
    watch->waited = waited;
    watch->observer = (struct observer){.issued = see_issued, .ended = see_ended};
    observer_add(&runtime->observers, &watch->observer);
}

/* ---- words ---- */

static void print_threshold(FILE *out, const struct adapt_kind *kind,
                            enum paths_direction direction)
{
    const struct threshold *threshold = &kind->threshold[direction];
    char now[PATHS_WORDS], first[PATHS_WORDS];

    if (!threshold->transfers)
        return;
    fprintf(out, "omprma:   %ss above %d KiB, %s: %s, %" PRIu64 " of them",
            direction_names[direction], OMPRMA_COPIED_SUBMIT / 1024, kind->name,
            paths_words(threshold->rma_from, now, sizeof(now)), threshold->transfers);
    if (threshold->revisions)
        fprintf(out, "; at start-up %s, revised %" PRIu32 "x",
                paths_words(threshold->first, first, sizeof(first)), threshold->revisions);
    if (threshold->tried)
        fprintf(out, "; %" PRIu64 " tried the other path", threshold->tried);
    fputc('\n', out);
}

void adapt_print(const struct runtime *runtime, FILE *out)
{
    fprintf(out, "omprma: choices by size, %s\n",
            runtime->kinds ? "corrected by real transfers" : "as at start-up");
    for (const struct adapt_kind *kind = runtime->kinds; kind; kind = kind->next)
        for (int direction = 0; direction < PATHS_DIRECTIONS; direction++)
            print_threshold(out, kind, (enum paths_direction)direction);
}
