/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * raw.c: the limits to compare with: bare MPI between the application and its worker, in the same
 * job and to the same memory, without any of our machinery in the timed part.
 */
#include "base/clock.h"
#include "base/error.h"
#include "control/bench.h"
#include "control/transport.h"
#include "tools/perf/bench.h"

enum { PING_PONG_BYTES = 64 };

/* NULL: it is not measured, and why is said. */
static const struct bench_ops *bare(const struct bench *bench)
{
    const struct transport *transport = bench->runtime->world.transport;

    if (!transport->bench)
        error_set(OMPRMA_ERR_UNSUPPORTED, "%s cannot be measured without omprma", transport->name);
    return transport->bench;
}

/* ---- one-sided ------------------------------------------------------------------------------ */

/* To and from a device that cannot be touched it is the link alone that is measured: by the
 * worker's staging memory, again and again where there is more. With --spread each movement is
 * elsewhere. */
static struct bench_move next_move(struct bench *bench, bool put, uint64_t bytes)
{
    bool staged = device_is_staged(bench->device);
    uint64_t at = bench_next(bench, bytes);
    return (struct bench_move){
        .put = put,
        .peer = bench->device->peer->rank,
        .here = bench->buffer + at,
        .there = staged ? bench->device->about.staging : bench->block + at,
        .bytes = (int)bytes,
        .most = staged ? (int)bench->device->about.staging_bytes : (int)bytes,
    };
}

/* So many movements, by one call where they are all the same. */
static omprma_status_t move_batch(struct bench *bench, bool put, uint64_t bytes, int batch)
{
    const struct bench_ops *ops = bare(bench);
    int calls = bench->choice->spread ? batch : 1;
    omprma_status_t status = OMPRMA_OK;
    for (int i = 0; i < calls && status == OMPRMA_OK; i++) {
        const struct bench_move move = next_move(bench, put, bytes);
        status = ops->move(&bench->runtime->world, &move, batch / calls);
    }
    return status;
}

static omprma_status_t one_sided(struct bench *bench, bool put, uint64_t bytes, int samples,
                                 int batch, double *us)
{
    omprma_status_t status = OMPRMA_OK;
    if (!bare(bench))
        return OMPRMA_ERR_UNSUPPORTED;
    runtime_lock(bench->runtime);
    peer_keep_awake(bench->device->peer, bytes * (uint64_t)batch);
    if (bytes < 1 << 20)
        status = move_batch(bench, put, bytes, 1);
    for (int i = 0; i < samples && status == OMPRMA_OK; i++) {
        /* where transfers need the target's help */
        peer_keep_awake(bench->device->peer, bytes * (uint64_t)batch);
        int64_t begin = clock_ns();
        status = move_batch(bench, put, bytes, batch);
        us[i] = (double)(clock_ns() - begin) / 1e3 / batch;
    }
    runtime_unlock(bench->runtime);
    return status;
}

static omprma_status_t raw_put(struct bench *bench, uint64_t bytes, int samples, int batch,
                               double *us)
{
    return one_sided(bench, true, bytes, samples, batch, us);
}

static omprma_status_t raw_get(struct bench *bench, uint64_t bytes, int samples, int batch,
                               double *us)
{
    return one_sided(bench, false, bytes, samples, batch, us);
}

/* ---- two-sided ------------------------------------------------------------------------------ */

/* The worker takes its part in one blocking loop, which this side drives. */
static omprma_status_t messages(const struct bench *bench, enum bench_kind kind, uint64_t bytes,
                                int samples, int batch, double *us)
{
    int out = kind == BENCH_SEND ? 0 : (int)bytes, in = kind == BENCH_RECEIVE ? 0 : (int)bytes;
    uint64_t rounds = (uint64_t)samples * (uint64_t)batch + 1;
    struct wire_record record = {.code = WIRE_BENCH, .word = {kind, bytes, rounds, bench->block}};
    const struct bench_ops *ops = bare(bench);
    const struct world *world = &bench->runtime->world;
    int peer = bench->device->peer->rank;
    if (!ops)
        return OMPRMA_ERR_UNSUPPORTED;
    runtime_lock(bench->runtime);
    omprma_status_t status = queue_append_command(bench->queue, OPERATION_COMMAND, &record, NULL);
    if (status != OMPRMA_OK) {
        runtime_unlock(bench->runtime);
        return status;
    }
    queue_want(bench->queue, bench->queue->hazard);
    queue_flush(bench->queue);
    runtime_unlock(bench->runtime); /* which wakes the worker */
    runtime_lock(bench->runtime);
    status = ops->exchange(world, peer, bench->buffer, out, in, 1); /* warm-up */
    for (int i = 0; i < samples && status == OMPRMA_OK; i++) {
        int64_t begin = clock_ns();
        status = ops->exchange(world, peer, bench->buffer, out, in, batch);
        us[i] = (double)(clock_ns() - begin) / 1e3 / batch;
    }
    if (status == OMPRMA_OK)
        status = queue_synchronize(bench->queue);
    runtime_unlock(bench->runtime);
    return status;
}

static omprma_status_t raw_send(struct bench *bench, uint64_t bytes, int samples, int batch,
                                double *us)
{
    return messages(bench, BENCH_RECEIVE, bytes, samples, batch, us);
}

static omprma_status_t raw_receive(struct bench *bench, uint64_t bytes, int samples, int batch,
                                   double *us)
{
    return messages(bench, BENCH_SEND, bytes, samples, batch, us);
}

static omprma_status_t raw_ping_pong(struct bench *bench, uint64_t bytes, int samples, int batch,
                                     double *us)
{
    (void)bytes;
    return messages(bench, BENCH_PING_PONG, PING_PONG_BYTES, samples, batch, us);
}

/* ---- worker to worker ----------------------------------------------------------------------- */

/* The first worker times its own puts to the second one's window. */
static omprma_status_t raw_peer_put(struct bench *bench, uint64_t bytes, int samples, int batch,
                                    double *us)
{
    struct wire_record record = {
        .code = WIRE_BENCH,
        .word = {bench_put((uint32_t)bench->peer->peer->rank, (uint32_t)samples), bytes,
                 bench->block, bench->peer_block},
    };
    uint64_t count = 0;
    (void)batch; /* it times each by itself */
    runtime_lock(bench->runtime);
    omprma_status_t status = device_command(bench->device, &record, &count, us,
                                            (uint32_t)((size_t)samples * sizeof(*us)));
    runtime_unlock(bench->runtime);
    if (status == OMPRMA_OK && count != (uint64_t)samples)
        status = error_set(OMPRMA_ERR_UNSUPPORTED, "the worker did not measure its puts");
    return status;
}

bench_way raw_way(enum perf_op op, enum perf_path path)
{
    switch (op) {
    case OP_SUBMIT:
        return path == WAY_RAW ? raw_put : raw_send;
    case OP_RETRIEVE:
        return path == WAY_RAW ? raw_get : raw_receive;
    case OP_EXCHANGE:
        return path == WAY_RAW ? raw_peer_put : NULL;
    case OP_LAUNCH:
    case OP_REGION:
        return path == WAY_RAW ? raw_ping_pong : NULL;
    default:
        return NULL;
    }
}
