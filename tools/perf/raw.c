/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * raw.c: the limits to compare with: bare MPI between the application and its worker, in the same
 * job and to the same memory, without any of our machinery in the timed part.
 */
#include <mpi.h>

#include "base/clock.h"
#include "base/error.h"
#include "control/mpi/bench.h"
#include "control/mpi/tags.h"
#include "control/mpi/world.h"
#include "control/mpi/yield.h"
#include "tools/perf/bench.h"

enum { PING_PONG_BYTES = 64 };

/* ---- one-sided ------------------------------------------------------------------------------ */

/* To and from a device that cannot be touched it is the link alone that is measured: by the
 * worker's staging memory, again and again where there is more. */
static int put_or_get(const struct bench *bench, bool put, int bytes)
{
    int rank = bench->device->peer->rank, code = MPI_SUCCESS;
    MPI_Win window = bench->runtime->world.mpi->window;
    bool staged = device_is_staged(bench->device);
    MPI_Aint at = (MPI_Aint)(staged ? bench->device->about.staging : bench->block);
    int most = staged ? (int)bench->device->about.staging_bytes : bytes;
    for (int done = 0, now; done < bytes && code == MPI_SUCCESS; done += now) {
        char *here = bench->buffer + done;
        now = bytes - done < most ? bytes - done : most;
        code = put ? MPI_Put(here, now, MPI_BYTE, rank, at, now, MPI_BYTE, window)
                   : MPI_Get(here, now, MPI_BYTE, rank, at, now, MPI_BYTE, window);
    }
    return code == MPI_SUCCESS ? MPI_Win_flush(rank, window) : code;
}

static omprma_status_t one_sided(const struct bench *bench, bool put, uint64_t bytes, int samples,
                                 int batch, double *us)
{
    int code = MPI_SUCCESS;
    runtime_lock(bench->runtime);
    peer_keep_awake(bench->device->peer);
    mpi_yield_allow(true);
    if (bytes < 1 << 20)
        code = put_or_get(bench, put, (int)bytes);
    for (int i = 0; i < samples && code == MPI_SUCCESS; i++) {
        peer_keep_awake(bench->device->peer); /* where transfers need the target's help */
        int64_t begin = clock_ns();
        for (int j = 0; j < batch && code == MPI_SUCCESS; j++)
            code = put_or_get(bench, put, (int)bytes);
        us[i] = (double)(clock_ns() - begin) / 1e3 / batch;
    }
    mpi_yield_allow(false);
    runtime_unlock(bench->runtime);
    return code == MPI_SUCCESS ? OMPRMA_OK : world_error(code, put ? "MPI_Put" : "MPI_Get");
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

/* Sends `out` bytes and receives `in` bytes. */
static int exchange_messages(const struct bench *bench, int out, int in)
{
    int rank = bench->device->peer->rank;
    MPI_Comm comm = bench->runtime->world.mpi->data;
    int code = MPI_Send(bench->buffer, out, MPI_BYTE, rank, BENCH_TAG, comm);
    if (code != MPI_SUCCESS)
        return code;
    return MPI_Recv(bench->buffer, in, MPI_BYTE, rank, BENCH_TAG, comm, MPI_STATUS_IGNORE);
}

/* The worker takes its part in one blocking loop, which this side drives. */
static omprma_status_t messages(const struct bench *bench, enum bench_kind kind, uint64_t bytes,
                                int samples, int batch, double *us)
{
    int out = kind == BENCH_SEND ? 0 : (int)bytes, in = kind == BENCH_RECEIVE ? 0 : (int)bytes;
    uint64_t rounds = (uint64_t)samples * (uint64_t)batch + 1;
    struct wire_record record = {.code = WIRE_BENCH, .word = {kind, bytes, rounds, bench->block}};
    int code;
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
    mpi_yield_allow(true);
    code = exchange_messages(bench, out, in); /* warm-up */
    for (int i = 0; i < samples && code == MPI_SUCCESS; i++) {
        int64_t begin = clock_ns();
        for (int j = 0; j < batch && code == MPI_SUCCESS; j++)
            code = exchange_messages(bench, out, in);
        us[i] = (double)(clock_ns() - begin) / 1e3 / batch;
    }
    mpi_yield_allow(false);
    status =
        code == MPI_SUCCESS ? queue_synchronize(bench->queue) : world_error(code, "a bare message");
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
