/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * settle.c: which path data takes after start-up, and which one after some transfers (settle); what
 * each path takes, measured in turns (ways): by that the choices of other runs are judged.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "host/choice/adapt.h"
#include "tools/perf/bench.h"

enum {
    TURNS_MOST = 41, /* per path */
    TURNS_LEAST = 5,
    ROW = 3,                /* operations of a turn: the first one finds data in the wrong caches */
    ROW_BYTES = 8 << 20,    /* from here on there is one: nothing stays in caches */
    TURNS_BYTES = 16 << 20, /* fewer turns from where so many of them move more than this */
    BATCH_BYTES = 4096,     /* smaller submits in messages are measured in batches */
    INLINE_MOST = 8192      /* what is tried in a message */
};

static bool is_submit(enum perf_op op)
{
    return op == OP_SUBMIT;
}

/* Device 0 sends everything one way. */
static void force(struct bench *bench, enum path path)
{
    struct paths *paths = &bench->device->paths;
    runtime_lock(bench->runtime);
    paths->adapt = NULL;
    paths->shared = false;
    paths->inline_submit = paths->inline_retrieve = path == PATH_INLINE ? INLINE_MOST : 0;
    paths->inline_retrieve_fused = paths->inline_retrieve;
    paths_set(paths, PATHS_SUBMIT, path == PATH_RMA ? 0 : COST_NEVER);
    paths_set(paths, PATHS_RETRIEVE, path == PATH_RMA ? 0 : COST_NEVER);
    runtime_unlock(bench->runtime);
}

static bool is_possible(const struct bench *bench, enum perf_op op, enum path path, uint64_t bytes)
{
    if (path == PATH_INLINE)
        return bytes <= INLINE_MOST;
    if (path == PATH_RMA)
        return device_is_one_sided(bench->device);
    return op != OP_SUBMIT || bytes > OMPRMA_COPIED_SUBMIT;
}

/* The path that the next transfer takes, but for what is tried. */
static enum path taken(const struct bench *bench, enum perf_op op, uint64_t bytes)
{
    const struct paths *paths = &bench->device->paths;
    if (bytes <= (is_submit(op) ? paths->inline_submit : paths->inline_retrieve))
        return PATH_INLINE;
    if (paths_one_sided(paths, is_submit(op), bytes))
        return PATH_RMA;
    return is_submit(op) && bytes <= OMPRMA_COPIED_SUBMIT ? PATH_INLINE : PATH_TWO_SIDED;
}

static uint32_t revisions(const struct bench *bench, enum perf_op op)
{
    const struct adapt_kind *kind = bench->device->paths.adapt;
    enum paths_direction direction = is_submit(op) ? PATHS_SUBMIT : PATHS_RETRIEVE;
    return kind ? kind->threshold[direction].revisions : 0;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static int turns_for(const struct choice *choice, uint64_t bytes)
{
    uint64_t fit = TURNS_BYTES / bytes;
    if (choice->reps)
        return choice->reps < TURNS_MOST ? choice->reps : TURNS_MOST;
    return fit < TURNS_LEAST ? TURNS_LEAST : fit > TURNS_MOST ? TURNS_MOST : (int)fit;
}

/* The median of the turns of each path; who begins changes. */
static omprma_status_t measure(struct bench *bench, enum perf_op op, uint64_t bytes, double *us)
{
    static double samples[PATH_COUNT][TURNS_MOST];
    double row[ROW];
    bench_way way = own_way(op, WAY_AUTO);
    int batch = op == OP_SUBMIT && bytes < BATCH_BYTES ? BATCH : 1;
    int turns = turns_for(bench->choice, bytes);
    omprma_status_t status = OMPRMA_OK;
    for (int turn = 0; turn < turns * PATH_APPLICATION && status == OMPRMA_OK; turn++) {
        int round = turn / PATH_APPLICATION;
        enum path path = (enum path)((turn + round) % PATH_APPLICATION);
        if (!is_possible(bench, op, path, bytes))
            continue;
        force(bench, path);
        status = way(bench, bytes, bytes < ROW_BYTES ? ROW : 1, batch, row);
        samples[path][round] = bytes < ROW_BYTES ? (row[1] < row[2] ? row[1] : row[2]) : row[0];
    }
    for (enum path path = PATH_INLINE; path < PATH_APPLICATION; path++) {
        qsort(samples[path], (size_t)turns, sizeof(double), by_value);
        us[path] = is_possible(bench, op, path, bytes) ? samples[path][turns / 2] : 0;
    }
    return status;
}

static struct result result_of(const struct bench *bench, enum perf_op op, enum perf_op direction,
                               uint64_t bytes)
{
    return (struct result){.op = op,
                           .path = WAY_AUTO,
                           .bytes = bytes,
                           .workers = bench->runtime->device_count,
                           .direction = direction};
}

static void keep(struct bench *bench, struct result *result, double us)
{
    results_add(&bench->results, result, &us, 1);
    results_print(&bench->results, bench->results.count - 1);
}

/* Memory moves only if there are transfers. */
static omprma_status_t settle(struct bench *bench, enum perf_op op, uint64_t bytes)
{
    struct result result = result_of(bench, OP_SETTLE, op, bytes);
    double us = 0;
    omprma_status_t status = OMPRMA_OK;
    bench_adapt(bench);
    result.chosen = taken(bench, op, bytes);
    result.revisions = revisions(bench, op);
    for (int i = 0; i < bench->choice->transfers && status == OMPRMA_OK; i++)
        status = own_way(op, WAY_AUTO)(bench, bytes, 1, 1, &us);
    result.settled = taken(bench, op, bytes);
    result.revisions = revisions(bench, op) - result.revisions;
    bench->started = bench->device->paths; /* what it has learned stays */
    bench_force(bench, WAY_AUTO);
    if (status == OMPRMA_OK)
        keep(bench, &result, us);
    return status;
}

static omprma_status_t ways(struct bench *bench, enum perf_op op, uint64_t bytes)
{
    struct result result = result_of(bench, OP_WAYS, op, bytes);
    omprma_status_t status = measure(bench, op, bytes, result.us);
    bench_force(bench, WAY_AUTO);
    if (status == OMPRMA_OK)
        keep(bench, &result, 0);
    return status;
}

omprma_status_t settle_run(struct bench *bench, enum perf_op op)
{
    omprma_status_t (*run)(struct bench * bench, enum perf_op direction, uint64_t bytes) =
        op == OP_WAYS ? ways : settle;
    const struct choice *choice = bench->choice;
    omprma_status_t status = OMPRMA_OK;
    for (int i = 0; i < choice->size_count && status == OMPRMA_OK; i++) {
        bench_step_begins(bench, op, choice->sizes[i]);
        status = run(bench, OP_SUBMIT, choice->sizes[i]);
        if (status == OMPRMA_OK)
            status = run(bench, OP_RETRIEVE, choice->sizes[i]);
    }
    return status;
}
