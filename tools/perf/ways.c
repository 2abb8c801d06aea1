/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ways.c: operations through our own interface, timed. */
#include "base/clock.h"
#include "base/error.h"
#include "tools/perf/bench.h"

/* Unacknowledged submits before the first that is timed: more than may be under way, so that the
 * timed ones go at the rate at which the worker takes them. */
enum { FILL = 2 * PEER_WINDOW };

/* Blocks of an allocation batch that are live at once hold at most so much. */
static const uint64_t ALLOC_LIVE_BYTES = 32 << 20;

omprma_status_t bench_time_steps(struct bench *bench, bench_step one, uint64_t bytes, int samples,
                                 int batch, double *us)
{
    omprma_status_t status = OMPRMA_OK;
    for (int i = 0; i < samples && status == OMPRMA_OK; i++) {
        int64_t begin = clock_ns();
        for (int j = 0; j < batch && status == OMPRMA_OK; j++)
            status = one(bench, bytes);
        us[i] = (double)(clock_ns() - begin) / 1e3 / batch;
    }
    return status;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static omprma_status_t submit(struct bench *bench, uint64_t bytes)
{
    uint64_t at = bench_next(bench, bytes);
    omprma_status_t status =
        omprma_submit(bench->queue, bench->block + at, bench->buffer + at, bytes);
    return status == OMPRMA_OK ? omprma_queue_synchronize(bench->queue) : status;
}

static omprma_status_t retrieve(struct bench *bench, uint64_t bytes)
{
    uint64_t at = bench_next(bench, bytes);
    omprma_status_t status =
        omprma_retrieve(bench->queue, bench->buffer + at, bench->block + at, bytes);
    return status == OMPRMA_OK ? omprma_queue_synchronize(bench->queue) : status;
}

static omprma_status_t exchange(struct bench *bench, uint64_t bytes)
{
    omprma_status_t status =
        omprma_exchange(bench->queue, bench->block, 1, bench->peer_block, bytes);
    return status == OMPRMA_OK ? omprma_queue_synchronize(bench->queue) : status;
}

static omprma_status_t via_application(struct bench *bench, uint64_t bytes)
{
    omprma_status_t status = retrieve(bench, bytes);
    if (status == OMPRMA_OK)
        status = omprma_submit(bench->peer_queue, bench->peer_block, bench->buffer, bytes);
    return status == OMPRMA_OK ? omprma_queue_synchronize(bench->peer_queue) : status;
}

static omprma_status_t launch(struct bench *bench, uint64_t bytes)
{
    (void)bytes;
    omprma_status_t status = omprma_launch(bench->queue, bench->empty, NULL, NULL, 0);
    return status == OMPRMA_OK ? omprma_queue_synchronize(bench->queue) : status;
}

static omprma_status_t region(struct bench *bench, uint64_t bytes)
{
    int64_t in = 41, out = 0;
    (void)bytes;
    omprma_status_t status =
        bench_region(bench->queue, bench->add[0], bench->block, &in, &out, true);
    if (status == OMPRMA_OK && out != 42)
        status =
            error_set(OMPRMA_ERR_KERNEL, "a region returned %lld instead of 42", (long long)out);
    return status;
}

/* ---- ways ----------------------------------------------------------------------------------- */

static omprma_status_t own_submit(struct bench *bench, uint64_t bytes, int samples, int batch,
                                  double *us)
{
    int fill = bytes <= OMPRMA_COPIED_SUBMIT ? FILL : bytes < 1 << 20 ? 1 : 0;
    char back[8];
    omprma_status_t status = OMPRMA_OK;
    for (int i = 0; i < fill && status == OMPRMA_OK; i++)
        status = submit(bench, bytes);
    if (status == OMPRMA_OK)
        status = bench_time_steps(bench, submit, bytes, samples, batch, us);
    if (status == OMPRMA_OK) /* nothing stays under way into the next path's turn */
        status = omprma_retrieve(bench->queue, back, bench->block, 1);
    return status == OMPRMA_OK ? omprma_queue_synchronize(bench->queue) : status;
}

/* For operations that are complete when they return; `large` ones need no warm-up. */
static omprma_status_t own_step(struct bench *bench, bench_step one, bool large, uint64_t bytes,
                                int samples, int batch, double *us)
{
    omprma_status_t status = large ? OMPRMA_OK : one(bench, bytes);
    return status == OMPRMA_OK ? bench_time_steps(bench, one, bytes, samples, batch, us) : status;
}

static omprma_status_t own_retrieve(struct bench *bench, uint64_t bytes, int samples, int batch,
                                    double *us)
{
    return own_step(bench, retrieve, bytes >= 1 << 20, bytes, samples, batch, us);
}

static omprma_status_t own_exchange(struct bench *bench, uint64_t bytes, int samples, int batch,
                                    double *us)
{
    return own_step(bench, exchange, bytes >= 1 << 20, bytes, samples, batch, us);
}

static omprma_status_t own_via_application(struct bench *bench, uint64_t bytes, int samples,
                                           int batch, double *us)
{
    return own_step(bench, via_application, bytes >= 1 << 20, bytes, samples, batch, us);
}

static omprma_status_t own_launch(struct bench *bench, uint64_t bytes, int samples, int batch,
                                  double *us)
{
    return own_step(bench, launch, false, bytes, samples, batch, us);
}

static omprma_status_t own_region(struct bench *bench, uint64_t bytes, int samples, int batch,
                                  double *us)
{
    return own_step(bench, region, false, bytes, samples, batch, us);
}

/* As programs do it: several blocks are live, and they are freed in the order of their making. */
static omprma_status_t own_alloc(struct bench *bench, uint64_t bytes, int samples, int batch,
                                 double *us)
{
    omprma_addr_t live[BATCH];
    uint64_t most = ALLOC_LIVE_BYTES / bytes;
    int width = most < 1 ? 1 : most < BATCH ? (int)most : BATCH;
    omprma_status_t status = OMPRMA_OK;
    (void)bench;
    (void)batch; /* a clock takes longer than this: always a batch */
    for (int i = -1; i < samples && status == OMPRMA_OK; i++) { /* the first is a warm-up */
        int64_t begin = clock_ns();
        for (int done = 0; done < BATCH; done += width) {
            for (int j = 0; j < width && status == OMPRMA_OK; j++)
                status = omprma_alloc(0, bytes, &live[j]);
            for (int j = 0; j < width && status == OMPRMA_OK; j++)
                status = omprma_free(0, live[j]);
        }
        if (i >= 0)
            us[i] = (double)(clock_ns() - begin) / 1e3 / ((BATCH + width - 1) / width * width);
    }
    return status;
}

bench_way own_way(enum perf_op op, enum perf_path path)
{
    if (op == OP_BROADCAST)
        return broadcast_way(path);
    if (path == WAY_APPLICATION)
        return op == OP_EXCHANGE ? own_via_application : NULL;
    switch (op) {
    case OP_SUBMIT:
        return own_submit;
    case OP_RETRIEVE:
        return own_retrieve;
    case OP_EXCHANGE:
        return own_exchange;
    case OP_LAUNCH:
        return own_launch;
    case OP_REGION:
        return own_region;
    case OP_ALLOC: /* no data moves, so there is only one way */
        return path == WAY_AUTO ? own_alloc : NULL;
    default:
        return NULL;
    }
}
