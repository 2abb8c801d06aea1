/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * measure.c: sends real transfers of two sizes by each path through the real machinery, and derives
 * up to which size data travels in control messages and from which size on it goes one-sided.
 *
 * What one start measures must not be luck: pages are touched and the worker is awake before
 * anything counts; the paths follow each other, so what disturbs the machine disturbs all of them;
 * and a time is the lower quartile of its samples.
 */
#define _GNU_SOURCE
#include "host/start/measure.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "host/choice/adapt.h"
#include "host/choice/cost.h"
#include "host/choice/survey.h"
#include "host/device/devices.h"
#include "host/queue/issue.h"
#include "host/start/measured.h"
#include "host/start/reach.h"
#include "host/start/trial.h"

enum {
    /* Of operations in a row the best one is the sample: the first one finds data in the wrong
     * caches. There are more than the least of those that take no longer than this, one more or
     * two. */
    ROW_MOST = SURVEY_LEAST_OPERATIONS + 2,
    SHORT_NS = 200000,
    SHORTEST_NS = 20000,
    BATCH = 16,        /* small submits before an operation that is acknowledged */
    SPIN_NS = 200000,  /* a wait of this thread without yielding: a worker that does not share
                        * its processor has answered by then */
    WAKE_NS = 1000000, /* at most, until both ends poll */
    INLINE_MOST = 16384,
    AROUND = 64,         /* messages of so much fill a FIFO (fifo.h), */
    AROUND_NS = 6000000, /* unless that takes longer: others have the processor */
    INLINE_LEAST = 512,  /* beside a launch so few bytes cost nothing anywhere */
    LIKE_FACTOR = 2,     /* a host whose round trips differ by more is of another kind */
    TRIAL_REST = 3,      /* and leaves that much of it */
    TRIAL_SHARE = 4,     /* of the time for a device: a large trial takes at most so little of it */
    SMALL_ARENA = 4 * TRIAL_MOST /* a smaller one has no room for the largest trial */
};

static void force(struct paths *paths, enum path path)
{
    paths->inline_submit = paths->inline_retrieve = path == PATH_INLINE ? INLINE_MOST : 0;
    paths->inline_retrieve_fused = paths->inline_retrieve;
    paths_set(paths, PATHS_SUBMIT, path == PATH_RMA ? 0 : COST_NEVER);
    paths_set(paths, PATHS_RETRIEVE, path == PATH_RMA ? 0 : COST_NEVER);
    paths->adapt = NULL;
    paths->shared = false;
}

/* ---- what the measurement works on ---- */

struct probe {
    struct device *device;
    omprma_queue_t *queue;
    omprma_addr_t there;
    char *here;
    struct trial_memory memory;
    uint64_t room; /* bytes there, and half of those here */
    struct trial trials[TRIAL_SIZES];
    int64_t took_ns[SURVEY_PATHS][TRIAL_SIZES]; /* by those that ended with the size; 0: none */
    bool keeps;                                 /* data may still arrive there, and here */
    struct survey survey;
};

static void probe_close(struct probe *probe)
{
    if (!probe)
        return;
    if (probe->queue)
        omprma_queue_destroy(probe->queue);
    if (!probe->keeps) {
        omprma_free(probe->device->number, probe->there);
        trial_unmap(&probe->memory);
    }
    free(probe);
}

/* Memory that was never touched would be timed as well. */
static bool make_memory(struct probe *probe, uint64_t bytes)
{
    if (!trial_map(&probe->memory, 2 * probe->room))
        return false;
    probe->here = probe->memory.here;
    memset(probe->here, 1, bytes);
    return true;
}

/* Of the `room`, `bytes` are touched. */
static omprma_status_t probe_open(struct device *device, uint64_t room, uint64_t bytes,
                                  struct probe **out)
{
    struct probe *probe = calloc(1, sizeof(*probe));
    omprma_status_t status;

    if (probe)
        probe->room = room;
    if (!probe || !make_memory(probe, bytes)) {
        free(probe);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the start-up measurement");
    }
    probe->device = device;
    status = omprma_alloc(device->number, room, &probe->there);
    if (status == OMPRMA_OK)
        status = omprma_queue_create(device->number, &probe->queue);
    if (status == OMPRMA_OK)
        *out = probe;
    else
        probe_close(probe);
    return status;
}

static omprma_status_t one(const struct probe *probe, bool submit, uint64_t bytes)
{
    omprma_status_t status = submit
                                 ? omprma_submit(probe->queue, probe->there, probe->here, bytes)
                                 : omprma_retrieve(probe->queue, probe->here, probe->there, bytes);

    return status == OMPRMA_OK ? omprma_queue_synchronize(probe->queue) : status;
}

/* Round trips until they take what they took before. The shortest one is the device's. */
static omprma_status_t wake(struct probe *probe)
{
    int64_t begin = clock_ns(), before = begin, least = INT64_MAX / 2;
    omprma_status_t status = OMPRMA_OK;

    force(&probe->device->paths, PATH_INLINE);
    for (int steady = 0; status == OMPRMA_OK && steady < 4 && before - begin < WAKE_NS;) {
        int64_t now, took;

        status = one(probe, false, 8);
        now = clock_ns();
        took = now - before;
        before = now;
        steady = took < least + least / 2 ? steady + 1 : 0;
        least = took < least ? took : least;
    }
    probe->device->paths.round_trip_us = (double)least / 1e3;
    return status;
}

/* The memory that messages go through within a host: once around, both ways. What was never used
 * lies elsewhere in caches, which makes the first messages of 8 KiB slower by a sixth. */
static omprma_status_t go_around(struct probe *probe)
{
    int64_t begin = clock_ns();
    omprma_status_t status = OMPRMA_OK;

    force(&probe->device->paths, PATH_INLINE);
    for (int i = 0; i < AROUND && status == OMPRMA_OK && clock_ns() - begin < AROUND_NS; i++) {
        status = one(probe, true, COST_INLINE_MOST);
        if (status == OMPRMA_OK)
            status = one(probe, false, COST_INLINE_MOST);
    }
    return status;
}

/* ---- samples ---- */

/* Not every way can take every size. */
static bool is_possible(const struct device *device, bool submit, enum path path, uint64_t bytes)
{
    if (path == PATH_INLINE)
        return bytes <= COST_INLINE_MOST;
    if (path == PATH_RMA)
        return device_is_one_sided(device);
    return !submit || bytes > OMPRMA_COPIED_SUBMIT;
}

/* Small submits are not acknowledged one by one: the time until the worker has taken a batch of
 * them is shared out among them. */
static omprma_status_t time_batch(const struct probe *probe, uint64_t bytes, int64_t *ns)
{
    int64_t begin = clock_ns();
    omprma_status_t status = OMPRMA_OK;

    for (int i = 0; i < BATCH && status == OMPRMA_OK; i++)
        status = one(probe, true, bytes);
    if (status == OMPRMA_OK)
        status = one(probe, false, 8);
    *ns = (clock_ns() - begin) / (BATCH + 1);
    return status;
}

/* Some in a row: the best one. */
static omprma_status_t sample(struct probe *probe, const struct survey_cell *cell)
{
    bool submit = cell->direction == PATHS_SUBMIT, batch = submit && cell->path == PATH_INLINE;
    uint64_t bytes = survey_bytes(cell->path, cell->size);
    int64_t least = INT64_MAX;
    omprma_status_t status = OMPRMA_OK;

    force(&probe->device->paths, cell->path);
    for (int i = 0; i < ROW_MOST && status == OMPRMA_OK; i++) {
        int64_t begin = clock_ns(), took;

        if (i > 0 && begin > probe->survey.deadline_ns)
            break;
        if (i >= SURVEY_LEAST_OPERATIONS &&
            (batch || least > (i > SURVEY_LEAST_OPERATIONS ? SHORTEST_NS : SHORT_NS)))
            break;
        if (batch) {
            status = time_batch(probe, bytes, &took);
        } else {
            status = one(probe, submit, bytes);
            took = clock_ns() - begin;
        }
        least = took < least ? took : least;
        survey_took(&probe->survey, clock_ns() - begin);
    }
    if (status == OMPRMA_OK)
        survey_add(&probe->survey, cell, (double)least / 1e3);
    return status;
}

/* ---- trials ---- */

omprma_status_t measure_refuse_one_sided(struct runtime *runtime, const char *what)
{
    struct world *world = &runtime->world;
    const struct config *config = &runtime->config;
    /* Nobody is surprised who has not asked for it, and who has is told by an error. */
    bool news = config->data == DATA_AUTO && config->exchange != EXCHANGE_PUT &&
                config->exchange != EXCHANGE_GET;

    snprintf(world->why_no_window, sizeof(world->why_no_window),
             "one-sided transfers, by component %s, deliver wrong data here: %s", world->component,
             what);
    if (config->data == DATA_RMA)
        return error_set(OMPRMA_ERR_MPI, "--data rma: %s; use --data auto or two-sided",
                         world->why_no_window);
    snprintf(runtime->choice, sizeof(runtime->choice), "two-sided: %s", world->why_no_window);
    log_write(news ? LOG_NOTE : LOG_CHOICE, "data path: %s", runtime->choice);
    datapath_destroy(runtime->one_sided);
    runtime->one_sided = NULL;
    return OMPRMA_OK;
}

omprma_status_t measure_refuse_messages(const char *what)
{
    return error_set(
        OMPRMA_ERR_MPI,
        "MPI's messages deliver wrong data here: %s; without them nothing can be done: "
        "choose another transport, as by --osc or --mpi-arg (omprma-info shows the one "
        "in use)",
        what);
}

/* Of a trial of a way only `right` bytes are. */
static omprma_status_t refuse(struct probe *probe, enum path path, bool submit,
                              const struct trial *trial, uint64_t right)
{
    char what[256];

    snprintf(what, sizeof(what), "%llu bytes %s %s were wrong from byte %llu on",
             (unsigned long long)trial->bytes, submit ? "submitted to" : "retrieved from",
             device_name(probe->device), (unsigned long long)right);
    probe->keeps = true;
    return path == PATH_RMA ? measure_refuse_one_sided(probe->device->runtime, what)
                            : measure_refuse_messages(what);
}

/* Where a trial's data lies, there and in each half of the memory here: it leaves from the first
 * one and comes back to the second. Those that are under way together do not meet. */
static uint64_t offset_of(const struct probe *probe, uint64_t bytes)
{
    return 2 * bytes <= probe->room ? bytes : 0;
}

static char *back_of(const struct probe *probe, const struct trial *trial)
{
    return probe->here + probe->room + offset_of(probe, trial->bytes);
}

/* There, a look at it, and back. What is not possible there goes in messages. */
static omprma_status_t carry(const struct probe *probe, enum path path, struct trial *trial)
{
    bool possible = is_possible(probe->device, true, path, trial->bytes);
    omprma_addr_t there = probe->there + offset_of(probe, trial->bytes);
    char *here = probe->here + offset_of(probe, trial->bytes), *back = back_of(probe, trial);
    omprma_status_t status;

    trial_fill(trial, here);
    force(&probe->device->paths, possible ? path : PATH_INLINE);
    status = omprma_submit(probe->queue, there, here, trial->bytes);
    if (status == OMPRMA_OK)
        status = trial_look(trial, probe->queue, there);
    force(&probe->device->paths, path);
    return status == OMPRMA_OK ? omprma_retrieve(probe->queue, back, there, trial->bytes) : status;
}

/* Sizes that are under way together. */
static omprma_status_t try_sizes(struct probe *probe, enum path path, int first, int end)
{
    struct trial *trials = probe->trials;
    int64_t begin = clock_ns();
    omprma_status_t status = OMPRMA_OK;

    for (int i = first; i < end && status == OMPRMA_OK; i++) {
        trials[i].bytes = trial_sizes[i];
        trials[i].number++;
        status = carry(probe, path, &trials[i]);
    }
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(probe->queue);
    if (end > first)
        probe->took_ns[path][end - 1] = clock_ns() - begin;
    for (int i = first; i < end && status == OMPRMA_OK; i++) {
        uint64_t seen = trial_seen(&trials[i]);
        uint64_t right = trial_compare(&trials[i], back_of(probe, &trials[i]));

        if (seen < trials[i].bytes || right < trials[i].bytes)
            return refuse(probe, path, seen < trials[i].bytes, &trials[i],
                          seen < trials[i].bytes ? seen : right);
    }
    return status;
}

/* How many sizes up to `most` bytes can be tried all together. */
static int count_up_to(const struct probe *probe, enum path path, uint64_t most)
{
    int count = 0;

    while (count < TRIAL_SIZES && trial_sizes[count] <= most &&
           2 * trial_sizes[count] <= probe->room &&
           is_possible(probe->device, false, path, trial_sizes[count]))
        count++;
    return count;
}

static omprma_status_t try_way(struct probe *probe, enum path path, int64_t budget_ns)
{
    int64_t begin = clock_ns(), passed;
    int size = count_up_to(probe, path, probe->device->peer->is_near ? TRIAL_NEAR : TRIAL_SURE);
    omprma_status_t status = try_sizes(probe, path, 0, size);

    for (; status == OMPRMA_OK && size < TRIAL_SIZES; size++) {
        uint64_t bytes = trial_sizes[size];

        passed = clock_ns() - begin;
        if (size == 0 || bytes > probe->room || !is_possible(probe->device, false, path, bytes) ||
            passed * (int64_t)(bytes / trial_sizes[size - 1]) > budget_ns / TRIAL_SHARE)
            break;
        status = try_sizes(probe, path, size, size + 1);
    }
    return status;
}

/* What is tried one-sided whatever it takes. */
static omprma_status_t try_sure(struct probe *probe)
{
    return try_sizes(probe, PATH_RMA, 0, count_up_to(probe, PATH_RMA, TRIAL_SURE));
}

/* The one that may be refused comes last, for what it has not delivered may still arrive. */
static omprma_status_t try_ways(struct probe *probe, int64_t budget_ns)
{
    omprma_status_t status = try_way(probe, PATH_INLINE, budget_ns);

    if (status == OMPRMA_OK)
        status = try_way(probe, PATH_TWO_SIDED, budget_ns);
    if (status == OMPRMA_OK)
        status = try_way(probe, PATH_RMA, budget_ns);
    /* Once more: the first transfers may have waited for a connection. */
    return status == OMPRMA_OK ? try_sure(probe) : status;
}

/* Were both ways sampled often enough? */
static bool is_compared(const struct device *device)
{
    for (int direction = 0; direction < PATHS_DIRECTIONS; direction++)
        if (device->paths.cost[direction][PATH_RMA].us <= 0 ||
            device->paths.cost[direction][PATH_TWO_SIDED].us <= 0)
            return false;
    return true;
}

/* Nobody waits for a worker of this host that is late, unless one-sided is asked for. Of a library
 * of which it is not known how long it takes: the largest size that was tried both ways tells, and
 * nothing is taken on trust. */
static bool is_two_sided_only(const struct probe *probe)
{
    const struct device *device = probe->device;
    const int64_t *rma = probe->took_ns[PATH_RMA], *two_sided = probe->took_ns[PATH_TWO_SIDED];
    int size = TRIAL_SIZES - 1;
    bool slow;

    if (device->runtime->world.can.calls_wait && device->peer->is_near)
        return true;
    if (!device->runtime->world.can.may_be_slow || !device_is_one_sided(device))
        return false;
    while (size > 0 && !(rma[size] && two_sided[size]))
        size--;
    slow = cost_is_far_longer(rma[size], two_sided[size]);
    if (slow)
        log_write(LOG_CHOICE,
                  "host %s: up to %llu KiB took %.1f ms one-sided, %.1f ms two-sided; data goes "
                  "two-sided",
                  device->peer->hello.host, (unsigned long long)trial_sizes[size] / 1024,
                  (double)rma[size] / 1e6, (double)two_sided[size] / 1e6);
    return slow || !is_compared(device);
}

/* ---- all samples ---- */

static omprma_status_t take_samples(struct probe *probe)
{
    struct survey_cell cell;
    omprma_status_t status = OMPRMA_OK;

    probe->survey.one_sided = device_is_one_sided(probe->device);
    while (status == OMPRMA_OK && survey_next(&probe->survey, clock_ns(), &cell))
        status = sample(probe, &cell);
    return status;
}

/* While it is measured a worker polls without yielding, and so does this thread for a
 * while: a yield to a program that computes lasts as long as its slice, and who slept would be
 * woken on the same processor. Not where both have only one. */
static omprma_status_t spin(const struct probe *probe, int64_t us)
{
    struct runtime *runtime = probe->device->runtime;
    omprma_status_t status;
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < 2)
        return OMPRMA_OK;
    runtime_lock(runtime);
    runtime->spin_ns = us ? SPIN_NS : 0;
    status = peer_spin(probe->device->peer, us);
    runtime_unlock(runtime);
    return status;
}

static omprma_status_t measure_one(struct device *device, int64_t budget_ns)
{
    bool near = device->peer->is_near;
    uint64_t room = device->about.arena_bytes < SMALL_ARENA ? TRIAL_NEAR : TRIAL_MOST;
    int64_t begin = clock_ns(), passed, trying, least_ns = budget_ns / TRIAL_REST;
    struct probe *probe;
    omprma_status_t status =
        probe_open(device, room, survey_bytes(PATH_RMA, SURVEY_SIZES - 1), &probe);

    if (status != OMPRMA_OK)
        return status;
    status = spin(probe, (WAKE_NS + AROUND_NS + budget_ns + survey_reserve(near, 0)) / 1000);
    if (status == OMPRMA_OK)
        status = wake(probe);
    if (status == OMPRMA_OK && device->peer->shares)
        status = go_around(probe);
    trying = clock_ns();
    if (status == OMPRMA_OK)
        status = try_ways(probe, budget_ns);
    /* Trials are a part of the time for the device, of which some is left for samples. */
    budget_ns -= clock_ns() - trying;
    passed = clock_ns() - begin;
    probe->survey.deadline_ns =
        begin + passed + survey_left(near, budget_ns > least_ns ? budget_ns : least_ns, passed);
    probe->survey.stolen_ns = survey_reserve(near, passed);
    if (status == OMPRMA_OK)
        status = take_samples(probe);
    if (status == OMPRMA_OK)
        status = spin(probe, 0);
    survey_result(&probe->survey, device->paths.cost);
    device->paths.near = near;
    device->paths.two_sided_only = is_two_sided_only(probe);
    device->paths.at_once = device->peer->shares ? COST_INLINE_MOST : 0;
    force(&device->paths, PATH_INLINE);
    probe_close(probe);
    return status;
}

/* ---- the choice ---- */

static uint32_t at_least(uint32_t bytes, uint32_t least)
{
    return bytes > least ? bytes : least;
}

void measure_choose(struct paths *paths, bool rma, enum config_data data)
{
    const struct cost *submit = paths->cost[PATHS_SUBMIT], *retrieve = paths->cost[PATHS_RETRIEVE];
    double ratio = cost_two_sided_ratio(paths->near);
    struct cost_others there = {.two_sided = &submit[PATH_TWO_SIDED], .asks = !rma && !paths->near},
                       back = there;

    if (data == DATA_RMA) {
        force(paths, PATH_RMA); /* for comparison: everything that can goes one-sided */
        return;
    }
    force(paths, PATH_TWO_SIDED);
    there.two_sided_from = OMPRMA_COPIED_SUBMIT + 1;
    back.two_sided = &retrieve[PATH_TWO_SIDED];
    if (rma && data == DATA_AUTO && !paths->two_sided_only) {
        there.rma = &submit[PATH_RMA];
        back.rma = &retrieve[PATH_RMA];
        back.rma_from = cost_rma_from(back.rma, back.two_sided, ratio);
        paths_set(paths, PATHS_RETRIEVE, back.rma_from);
        paths_set(paths, PATHS_SUBMIT, cost_rma_from(there.rma, there.two_sided, ratio));
        paths->small_rma_from[PATHS_SUBMIT] = 0; /* small submits cannot go two-sided */
    }
    paths->inline_submit = at_least(
        cost_inline_most(&submit[PATH_INLINE], false, paths->at_once, &there), INLINE_LEAST);
    paths->inline_retrieve = cost_inline_most(&retrieve[PATH_INLINE], false, paths->at_once, &back);
    paths->inline_retrieve_fused = at_least(
        cost_inline_most(&retrieve[PATH_INLINE], true, paths->at_once, &back), INLINE_LEAST);
}

/* For tests (OMPRMA_TEST_WRONG_CHOICE): as if every measurement had found the contrary of what is
 * corrected later. */
static void confuse(struct paths *paths)
{
    for (int direction = 0; direction < PATHS_DIRECTIONS; direction++) {
        struct cost *cost = paths->cost[direction], rma = cost[PATH_RMA];

        cost[PATH_RMA] = cost[PATH_TWO_SIDED];
        cost[PATH_TWO_SIDED] = rma;
        paths->rma_from[direction] = paths->rma_from[direction] ? 0 : COST_NEVER;
    }
}

static void choose(struct device *device)
{
    const struct config *config = &device->runtime->config;
    struct paths *paths = &device->paths;
    bool rma = device_is_one_sided(device), is_free;
    char there[PATHS_WORDS], back[PATHS_WORDS];

    is_free =
        rma && config->data == DATA_AUTO && !device_is_staged(device) && !paths->two_sided_only;
    measure_choose(paths, rma, rma ? (enum config_data)config->data : DATA_TWO_SIDED);
    if (config->inline_submit >= 0)
        paths->inline_submit = (uint32_t)config->inline_submit;
    if (config->inline_retrieve >= 0)
        paths->inline_retrieve = paths->inline_retrieve_fused = (uint32_t)config->inline_retrieve;
    if (is_free && config->wrong_choice)
        confuse(paths);
    if (is_free && config->adapt)
        adapt_begin(device);
    log_write(LOG_DETAIL,
              "device %d (%s): in the message: submit up to %u B, retrieve up to %u B; larger "
              "submits: %s; larger retrieves: %s",
              device->number, device->peer->hello.host, paths->inline_submit,
              paths->inline_retrieve,
              paths_words(paths->rma_from[PATHS_SUBMIT], there, sizeof(there)),
              paths_words(paths->rma_from[PATHS_RETRIEVE], back, sizeof(back)));
}

/* ---- which devices are measured ---- */

/* Whether what another host measured holds for the device: its worker answers as fast, or time is
 * up. Then one-sided transfers are tried, as often as those of others. */
static omprma_status_t is_as_far(struct device *device, const struct device *other,
                                 int64_t budget_ns, bool *same)
{
    struct probe *probe;
    omprma_status_t status = probe_open(device, 2 * TRIAL_SURE, 8, &probe);
    double mine, others = other->paths.round_trip_us;

    if (status != OMPRMA_OK)
        return status;
    if (budget_ns > 0)
        status = wake(probe);
    mine = device->paths.round_trip_us;
    *same = budget_ns == 0 || (mine < LIKE_FACTOR * others && others < LIKE_FACTOR * mine);
    for (int i = 0; i < 2 && *same && status == OMPRMA_OK; i++)
        status = try_sure(probe);
    probe_close(probe);
    return status;
}

/* What a program before has measured: only that data is right is tried. */
static omprma_status_t take_told(struct device *device, bool *taken)
{
    struct probe *probe;
    omprma_status_t status = OMPRMA_OK;

    *taken = measured_take(device);
    if (!*taken)
        return OMPRMA_OK;
    status = probe_open(device, 2 * TRIAL_SURE, 8, &probe);
    if (status != OMPRMA_OK)
        return status;
    for (int i = 0; i < 2 && status == OMPRMA_OK; i++)
        status = try_sure(probe);
    device->paths.near = true;
    device->paths.at_once = device->peer->shares ? COST_INLINE_MOST : 0;
    force(&device->paths, PATH_INLINE);
    probe_close(probe);
    return status;
}

/* A device whose figures this one takes over, or NULL: one of its host has the same transport; one
 * of another host of the same kind has if it is as far away, and is thought to when time is up. */
static omprma_status_t find_like(struct device *device, int64_t budget_ns,
                                 const struct device **like)
{
    const struct runtime *runtime = device->runtime;
    omprma_status_t status = OMPRMA_OK;
    bool same = false;

    *like = NULL;
    for (int i = 0; i < device->number; i++)
        if (device_is_like(runtime->devices[i], device) && device_is_well(runtime->devices[i])) {
            *like = runtime->devices[i];
            return OMPRMA_OK;
        }
    for (int i = 0; i < device->number && !same && status == OMPRMA_OK; i++) {
        const struct device *other = runtime->devices[i];

        if (other->peer->is_near || device->peer->is_near || !device_is_same_kind(other, device) ||
            !device_is_well(other))
            continue;
        status = is_as_far(device, other, budget_ns, &same);
        if (same)
            *like = other;
    }
    return status;
}

/* The measurement is not the user's. */
static void forget_traffic(struct runtime *runtime)
{
    for (int i = 0; i < runtime->device_count; i++)
        runtime->devices[i]->allocs = runtime->devices[i]->frees = 0;
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (runtime->peers[rank])
            runtime->peers[rank]->stats = (struct peer_stats){0};
}

/* One-sided transfers were refused after some devices had been measured. */
static void choose_again(struct runtime *runtime)
{
    adapt_end(runtime);
    for (int i = 0; i < runtime->device_count; i++)
        choose(runtime->devices[i]);
}

/* With the figures of another device, with those of a program before, or with its own. */
static omprma_status_t measure_device(struct device *device, int64_t budget_ns, bool *measured)
{
    const struct device *like;
    bool told = false;
    omprma_status_t status = find_like(device, budget_ns, &like);

    *measured = false;
    if (status == OMPRMA_OK && like) {
        device->paths = like->paths;
        return status;
    }
    if (status == OMPRMA_OK)
        status = take_told(device, &told);
    if (status == OMPRMA_OK && !told)
        status = measure_one(device, budget_ns);
    *measured = status == OMPRMA_OK;
    if (*measured)
        choose(device);
    return status;
}

/* A GPU whose driver fails already here is not used, and all others are. */
static bool leave_out(struct device *device, omprma_status_t status)
{
    char text[ERROR_TEXT_BYTES];
    int code = error_code();

    if (device->native || device->lost || status == OMPRMA_ERR_HOST_MEMORY)
        return false;
    snprintf(text, sizeof(text), "%s", error_text());
    log_write(LOG_WARNING, "device %d is not used, because it failed at the start: %s",
              device->number, text);
    device_note_crash(device, code, text);
    return true;
}

omprma_status_t measure_all(struct runtime *runtime)
{
    int64_t begin = clock_ns(), near_ns = 0;
    bool refusable = runtime->one_sided != NULL;
    omprma_status_t status = OMPRMA_OK;

    for (int i = 0; i < runtime->device_count; i++) {
        struct device *device = runtime->devices[i];
        int64_t before = clock_ns(), took_ns;
        bool measured;

        status =
            measure_device(device, survey_budget(device->peer->is_near, before - begin), &measured);
        if (status != OMPRMA_OK && !leave_out(device, status))
            return status;
        took_ns = clock_ns() - before;
        if (measured && device->peer->is_near && took_ns > near_ns)
            near_ns = took_ns;
    }
    status = measure_exchange(runtime, near_ns);
    if (status != OMPRMA_OK)
        return status;
    if (refusable && !runtime->one_sided)
        choose_again(runtime);
    status = reach_try(runtime);
    if (status != OMPRMA_OK)
        return status;
    forget_traffic(runtime);
    measured_tell(runtime);
    log_write(LOG_DETAIL, "start-up measurement took %.1f ms", (double)(clock_ns() - begin) / 1e6);
    return OMPRMA_OK;
}
