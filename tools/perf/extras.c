/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * extras.c: what is not one operation on one path: idle workers, many mapped arrays, the time that
 * a region takes of the application's thread, and regions on all workers in turn.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "tools/perf/bench.h"

enum {
    IDLE_S = 10,
    MAPS = 10000,     /* arrays that are mapped at once */
    MAPS_EACH = 1000, /* arrays of which one time is taken */
    MAPS_BYTES = 1024,
    MAPS_ROUNDS = 11,
    HEAD_BURSTS = 32,
    HEAD_SKIPPED = 200, /* of each burst: the worker before is still polling */
    HEAD_KEPT = 32,
    HEAD_WAIT_NS = 10000, /* for a region's result to come in; shorter than a worker stays awake */
    TURNS_SAMPLES = 4000
};

static omprma_status_t keep(struct bench *bench, struct result *result, double *us, int samples)
{
    result->workers = bench->runtime->device_count;
    result->path = WAY_AUTO;
    result->reps = samples;
    results_add(&bench->results, result, us, samples);
    results_print(&bench->results, bench->results.count - 1);
    return OMPRMA_OK;
}

/* ---- a region on any device ----------------------------------------------------------------- */

/* A queue and a number on each device. */
struct spot {
    omprma_queue_t *queue;
    omprma_addr_t at;
};

static void spots_close(const struct bench *bench, struct spot *spots)
{
    for (int i = 0; spots && i < bench->runtime->device_count; i++) {
        omprma_queue_destroy(spots[i].queue);
        omprma_free(i, spots[i].at);
    }
    free(spots);
}

static omprma_status_t spots_open(const struct bench *bench, struct spot **out)
{
    struct spot *spots = calloc((size_t)bench->runtime->device_count, sizeof(*spots));
    omprma_status_t status = OMPRMA_OK;
    if (!spots)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for queues");
    for (int i = 0; i < bench->runtime->device_count && status == OMPRMA_OK; i++) {
        status = omprma_queue_create(i, &spots[i].queue);
        if (status == OMPRMA_OK)
            status = omprma_alloc(i, sizeof(int64_t), &spots[i].at);
    }
    if (status != OMPRMA_OK)
        spots_close(bench, spots);
    else
        *out = spots;
    return status;
}

static omprma_status_t check_sum(int64_t out, int64_t wanted)
{
    if (out == wanted)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_KERNEL, "a region returned %lld instead of %lld", (long long)out,
                     (long long)wanted);
}

static omprma_status_t whole_region(const struct bench *bench, const struct spot *spots, int device)
{
    int64_t in = 1, out = 0;
    const struct spot *spot = &spots[device];
    omprma_status_t status =
        bench_region(spot->queue, bench->add[device], spot->at, &in, &out, true);
    return status == OMPRMA_OK ? check_sum(out, 2) : status;
}

/* ---- idle ----------------------------------------------------------------------------------- */

/* User and system time of a process, in clock ticks; negative if it cannot be seen. */
static long process_ticks(int pid)
{
    char path[64], text[1024];
    unsigned long user, system;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    size_t bytes = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    text[bytes] = 0;
    char *after = strrchr(text, ')'); /* the name before it may hold anything */
    if (!after || sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                         &system) != 2)
        return -1;
    return (long)(user + system);
}

/* Resident memory without the pages of shared libraries, which others map too. What a library has
 * written (anonymous pages of its mappings) counts. */
static uint64_t process_memory(int pid)
{
    char path[64], line[1024];
    uint64_t bytes = 0, kib;
    bool library = false;
    snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "Rss: %lu kB", &kib) == 1)
            bytes += library ? 0 : kib << 10;
        else if (sscanf(line, "Anonymous: %lu kB", &kib) == 1)
            bytes += library ? kib << 10 : 0;
        else if (strspn(line, "0123456789abcdef") > 4)
            library = strstr(line, ".so") != NULL;
    }
    if (file)
        fclose(file);
    return bytes;
}

/* What workers cost while nobody uses them, and how long the first region takes after that. */
static omprma_status_t idle(struct bench *bench, const struct spot *spots, long *before)
{
    omprma_status_t status = OMPRMA_OK;
    int devices = bench->runtime->device_count;
    for (int i = 0; i < devices && status == OMPRMA_OK; i++)
        status = whole_region(bench, spots, i);
    if (status != OMPRMA_OK)
        return status;
    for (int i = 0; i < devices; i++)
        before[i] = process_ticks(bench->runtime->devices[i]->peer->hello.bell.pid);
    sleep(IDLE_S);
    for (int i = 0; i < devices && status == OMPRMA_OK; i++) {
        struct result result = {.op = OP_IDLE, .bytes = sizeof(int64_t), .device = i};
        int pid = bench->runtime->devices[i]->peer->hello.bell.pid;
        long ticks = process_ticks(pid) - before[i];
        int64_t begin = clock_ns();
        status = whole_region(bench, spots, i);
        double us = (double)(clock_ns() - begin) / 1e3;
        result.cpu_share = (double)ticks / (double)sysconf(_SC_CLK_TCK) / IDLE_S;
        result.memory_bytes = process_memory(pid);
        if (status == OMPRMA_OK && bench->runtime->devices[i]->peer->can_ring)
            keep(bench, &result, &us, 1);
    }
    return status;
}

static omprma_status_t run_idle(struct bench *bench)
{
    long *before = calloc((size_t)bench->runtime->device_count, sizeof(*before));
    struct spot *spots = NULL;
    omprma_status_t status = spots_open(bench, &spots);
    if (status == OMPRMA_OK && before)
        status = idle(bench, spots, before);
    spots_close(bench, spots);
    free(before);
    return status;
}

/* ---- maps ----------------------------------------------------------------------------------- */

/* Maps MAPS_EACH more arrays: allocates and fills each. Time of one, in microseconds. */
static omprma_status_t map_some(struct bench *bench, omprma_addr_t *live, double *us)
{
    char data[MAPS_BYTES] = {1}, back = 0;
    omprma_status_t status = OMPRMA_OK;
    int64_t begin = clock_ns();
    for (int i = 0; i < MAPS_EACH && status == OMPRMA_OK; i++) {
        status = omprma_alloc(0, sizeof(data), &live[i]);
        if (status == OMPRMA_OK)
            status = omprma_submit(bench->queue, live[i], data, sizeof(data));
    }
    if (status == OMPRMA_OK)
        status = omprma_retrieve(bench->queue, &back, live[MAPS_EACH - 1], 1);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(bench->queue);
    *us = (double)(clock_ns() - begin) / 1e3 / MAPS_EACH;
    if (status == OMPRMA_OK && back != 1)
        status = error_set(OMPRMA_ERR_KERNEL, "a mapped array holds something else");
    return status;
}

static omprma_status_t run_maps(struct bench *bench)
{
    enum { PARTS = MAPS / MAPS_EACH };
    double us[PARTS][MAPS_ROUNDS], warm_up;
    omprma_addr_t *live = calloc(MAPS, sizeof(*live));
    omprma_status_t status = OMPRMA_OK;
    if (!live)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %d addresses", MAPS);
    for (int round = -1; round < MAPS_ROUNDS && status == OMPRMA_OK; round++) {
        for (int part = 0; part < PARTS && status == OMPRMA_OK; part++)
            status =
                map_some(bench, live + part * MAPS_EACH, round < 0 ? &warm_up : &us[part][round]);
        for (int i = 0; i < MAPS; i++)
            omprma_free(0, live[i]);
        memset(live, 0, MAPS * sizeof(*live));
    }
    for (int part = 0; part < PARTS && status == OMPRMA_OK; part++) {
        struct result result = {.op = OP_MAPS, .bytes = MAPS_BYTES, .live = (part + 1) * MAPS_EACH};
        status = keep(bench, &result, us[part], MAPS_ROUNDS);
    }
    free(live);
    return status;
}

/* ---- head ----------------------------------------------------------------------------------- */

/* Time that one region takes of the application's thread: for issuing it, and for completing it
 * once its result is there. The waiting in between is slept through, not measured. */
static omprma_status_t head_time(const struct bench *bench, const struct spot *spot, int device,
                                 double *us)
{
    int64_t in = 1, out = 0, begin = clock_ns(), issued, again;
    omprma_status_t status =
        bench_region(spot->queue, bench->add[device], spot->at, &in, &out, false);
    if (status == OMPRMA_OK)
        status = omprma_queue_flush(spot->queue);
    issued = clock_ns() - begin;
    while ((again = clock_ns()) - begin < HEAD_WAIT_NS)
        sched_yield(); /* the worker may be on the same core */
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(spot->queue);
    *us = (double)(issued + clock_ns() - again) / 1e3;
    return status == OMPRMA_OK ? check_sum(out, 2) : status;
}

/* Workers take turns in bursts, so that at any time one of them is awake: what is measured is the
 * application's thread, not the competition for cores. */
static omprma_status_t run_head(struct bench *bench)
{
    struct result result = {.op = OP_HEAD, .bytes = sizeof(int64_t)};
    double us[HEAD_BURSTS * HEAD_KEPT], ignored;
    struct spot *spots = NULL;
    int samples = 0;
    omprma_status_t status = spots_open(bench, &spots);
    for (int burst = 0; burst < HEAD_BURSTS; burst++) {
        int device = burst % bench->runtime->device_count;
        for (int i = 0; i < HEAD_SKIPPED && status == OMPRMA_OK; i++)
            status = head_time(bench, &spots[device], device, &ignored);
        for (int i = 0; i < HEAD_KEPT && status == OMPRMA_OK; i++)
            status = head_time(bench, &spots[device], device, &us[samples++]);
    }
    spots_close(bench, spots);
    return status == OMPRMA_OK ? keep(bench, &result, us, samples) : status;
}

/* ---- turns ---------------------------------------------------------------------------------- */

/* Regions on all workers in turn, each waited for. */
static omprma_status_t run_turns(struct bench *bench)
{
    struct result result = {.op = OP_TURNS, .bytes = sizeof(int64_t)};
    double *us = calloc(TURNS_SAMPLES, sizeof(*us));
    struct spot *spots = NULL;
    omprma_status_t status;
    if (!us)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for samples");
    status = spots_open(bench, &spots);
    int64_t start = clock_ns();
    for (int i = 0; i < TURNS_SAMPLES && status == OMPRMA_OK; i++) {
        int64_t begin = clock_ns();
        status = whole_region(bench, spots, i % bench->runtime->device_count);
        us[i] = (double)(clock_ns() - begin) / 1e3;
    }
    result.us_mean = (double)(clock_ns() - start) / 1e3 / TURNS_SAMPLES;
    if (status == OMPRMA_OK)
        status = keep(bench, &result, us, TURNS_SAMPLES);
    spots_close(bench, spots);
    free(us);
    return status;
}

omprma_status_t extras_run(struct bench *bench, enum perf_op op)
{
    bench_step_begins(bench, op, 0);
    return op == OP_IDLE   ? run_idle(bench)
           : op == OP_MAPS ? run_maps(bench)
           : op == OP_HEAD ? run_head(bench)
                           : run_turns(bench);
}
