/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * turns.c: measures one operation of one size on all paths. The paths take turns in short blocks,
 * so that whatever disturbs the machine disturbs all of them alike.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "tools/perf/bench.h"
#include "tools/perf/versus.h"

enum {
    BUDGET_US = 400000, /* per path, unless the user gave a number of repetitions */
    SAMPLES_LEAST = 11,
    SAMPLES_MOST = 2000,
    ROUNDS = 20,      /* turns per path, if there are samples enough */
    BLOCK_MOST = 100, /* samples of one turn */
    BLOCK_US = 50000, /* about how long one turn takes at most */
    CALIBRATION = 3
};

/* One path while it is measured. */
struct lane {
    enum perf_path path;
    bench_way way;
    double *us;
    int samples;
    double estimate_us;
};

static bool path_possible(const struct bench *bench, enum perf_op op, enum perf_path path)
{
    if (!(bench->choice->paths & 1u << path))
        return false;
    if (bench->choice->spread && (path == WAY_RAW_TWO_SIDED || path == WAY_DIRECT))
        return false; /* these have one place */
    if (device_is_staged(bench->device) && op != OP_LAUNCH && op != OP_REGION &&
        (path == WAY_RAW_TWO_SIDED || (path == WAY_RAW && op == OP_EXCHANGE)))
        return false; /* no MPI reaches its memory */
    return bench->runtime->one_sided || (path != WAY_RMA && path != WAY_RAW) ||
           (path == WAY_RAW && (op == OP_LAUNCH || op == OP_REGION)); /* a ping-pong */
}

static int find_lanes(const struct bench *bench, enum perf_op op, struct lane *lanes)
{
    int count = 0;
    for (enum perf_path path = 0; path < WAY_COUNT; path++) {
        bool raw = path == WAY_RAW || path == WAY_RAW_TWO_SIDED;
        bench_way way = raw                  ? raw_way(op, path)
                        : path == WAY_DIRECT ? direct_way(bench, op)
                                             : own_way(op, path);
        if (way && path_possible(bench, op, path))
            lanes[count++] = (struct lane){.path = path, .way = way};
    }
    return count;
}

static omprma_status_t lane_run(struct bench *bench, const struct lane *lane, uint64_t bytes,
                                int samples, int batch, double *us)
{
    bench_force(bench, lane->path);
    omprma_status_t status = lane->way(bench, bytes, samples, batch, us);
    bench_force(bench, WAY_AUTO);
    return status;
}

/* A first idea of the time, which also touches all memory that is used. */
static omprma_status_t calibrate(struct bench *bench, struct lane *lanes, int count, uint64_t bytes)
{
    for (int i = 0; i < count; i++) {
        double us[CALIBRATION];
        omprma_status_t status = lane_run(bench, &lanes[i], bytes, CALIBRATION, 1, us);
        if (status != OMPRMA_OK)
            return status;
        lanes[i].estimate_us = us[0];
        for (int j = 1; j < CALIBRATION; j++)
            if (us[j] < lanes[i].estimate_us)
                lanes[i].estimate_us = us[j];
    }
    return OMPRMA_OK;
}

static int samples_wanted(const struct choice *choice, double slowest_us, int batch)
{
    double fit = BUDGET_US / (slowest_us * batch);
    if (choice->reps > 0)
        return choice->reps;
    return fit < SAMPLES_LEAST ? SAMPLES_LEAST : fit > SAMPLES_MOST ? SAMPLES_MOST : (int)fit;
}

static int block_size(int samples, double slowest_us, int batch)
{
    double fit = BLOCK_US / (slowest_us * batch);
    int block = (samples + ROUNDS - 1) / ROUNDS;
    if (block > fit)
        block = (int)fit;
    return block < 1 ? 1 : block > BLOCK_MOST ? BLOCK_MOST : block;
}

/* A new order of the lanes: who always came behind the same other one would always find the caches,
 * and the worker, as that one leaves them. */
static void shuffle(int *order, int count, unsigned *seed)
{
    for (int i = 0; i < count; i++) {
        int j = rand_r(seed) % (i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

/* Takes turns until each path has its samples. */
static omprma_status_t take_turns(struct bench *bench, struct lane *lanes, int count,
                                  uint64_t bytes, int samples, int block, int batch)
{
    unsigned seed = (unsigned)clock_ns();
    for (int done = 0; done < samples;) {
        int now = samples - done < block ? samples - done : block;
        int order[WAY_COUNT];
        shuffle(order, count, &seed);
        for (int i = 0; i < count; i++) {
            struct lane *lane = &lanes[order[i]];
            omprma_status_t status =
                lane_run(bench, lane, bytes, now, batch, lane->us + lane->samples);
            if (status != OMPRMA_OK)
                return status;
            lane->samples += now;
        }
        done += now;
    }
    return OMPRMA_OK;
}

/* Small submits are not acknowledged one by one and take less than a look at the clock is worth, so
 * they are timed in batches, on all paths alike. (alloc has batches of its own.) */
static int batch_size(enum perf_op op, uint64_t bytes)
{
    return op == OP_SUBMIT && bytes <= OMPRMA_COPIED_SUBMIT ? BATCH : 1;
}

static omprma_status_t measure(struct bench *bench, enum perf_op op, uint64_t bytes,
                               struct lane *lanes, int count)
{
    double slowest = 0;
    omprma_status_t status = calibrate(bench, lanes, count, bytes);
    if (status != OMPRMA_OK)
        return status;
    for (int i = 0; i < count; i++)
        if (lanes[i].estimate_us > slowest)
            slowest = lanes[i].estimate_us;
    int batch = batch_size(op, bytes);
    int samples = samples_wanted(bench->choice, slowest, batch);
    for (int i = 0; i < count; i++) {
        lanes[i].us = calloc((size_t)samples, sizeof(double));
        if (!lanes[i].us)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %d samples", samples);
    }
    return take_turns(bench, lanes, count, bytes, samples, block_size(samples, slowest, batch),
                      batch);
}

/* Notes with the last result what bare MPI and the driver took, which are among the `before`
 * results in front of it. */
static void compare(const struct results *results, size_t before)
{
    struct result *result = &results->items[results->count - 1];
    if (result->path <= WAY_DIRECT)
        return;
    for (size_t i = 1; i <= before; i++) {
        if ((result - i)->path == WAY_RAW)
            result->us_raw = (result - i)->us_median;
        if ((result - i)->path == WAY_DIRECT)
            result->us_direct = (result - i)->us_median;
    }
}

omprma_status_t turns_run(struct bench *bench, enum perf_op op, uint64_t bytes)
{
    struct lane lanes[WAY_COUNT] = {0};
    int count = find_lanes(bench, op, lanes);
    bench_step_begins(bench, op, bytes);
    omprma_status_t status = count ? measure(bench, op, bytes, lanes, count) : OMPRMA_OK;
    for (int i = 0; i < count; i++) {
        struct result result = {
            .op = op,
            .path = lanes[i].path,
            .bytes = bytes,
            .workers = bench->runtime->device_count,
            .reps = lanes[i].samples,
        };
        if (status == OMPRMA_OK) {
            results_add(&bench->results, &result, lanes[i].us, lanes[i].samples);
            compare(&bench->results, (size_t)i);
            if (!bench->choice->versus)
                results_print(&bench->results, bench->results.count - 1);
        }
        free(lanes[i].us);
    }
    if (bench->choice->versus && status == OMPRMA_OK && count)
        versus_print_row(&bench->results);
    return status;
}
