/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bench.c: The worker's half mirrors what omprma-perf does: receive and send in turns, or puts
 * of its own, each timed with its flush. The numbers come in the record that asks for it. Only here
 * MPI may yield the processor, as it does in programs that are all MPI.
 */
#include "control/bench.h"

#include "base/clock.h"
#include "control/mpi/tags.h"
#include "control/mpi/world.h"
#include "control/mpi/yield.h"

enum { SMALL = 64 << 10 };

/* ---- the worker's half ---- */

static int ping_pong(const struct world *world, uint64_t bytes, uint64_t repetitions)
{
    static char buffer[SMALL];
    int count = (int)(bytes < SMALL ? bytes : SMALL), head = world->head;
    int code = MPI_SUCCESS;
    MPI_Comm comm = world->mpi->data;

    for (uint64_t i = 0; i < repetitions && code == MPI_SUCCESS; i++) {
        code = MPI_Recv(buffer, count, MPI_BYTE, head, BENCH_TAG, comm, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS)
            code = MPI_Send(buffer, count, MPI_BYTE, head, BENCH_TAG, comm);
    }
    return code;
}

static int one_way(const struct world *world, enum bench_kind kind, uint64_t bytes,
                   uint64_t repetitions, void *at)
{
    int in = kind == BENCH_RECEIVE ? (int)bytes : 0, out = kind == BENCH_RECEIVE ? 0 : (int)bytes;
    int head = world->head, code = MPI_SUCCESS;
    MPI_Comm comm = world->mpi->data;

    for (uint64_t i = 0; i < repetitions && code == MPI_SUCCESS; i++) {
        code = MPI_Recv(at, in, MPI_BYTE, head, BENCH_TAG, comm, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS)
            code = MPI_Send(at, out, MPI_BYTE, head, BENCH_TAG, comm);
    }
    return code;
}

/* Puts to a peer and times each. */
static int put(const struct world *world, const uint64_t *words, double *us, uint32_t *done)
{
    uint32_t repetitions = bench_repetitions(words[0]);
    int count = (int)words[1], peer = bench_peer(words[0]), code = MPI_SUCCESS;
    void *from = (void *)(uintptr_t)words[2];
    MPI_Aint to = (MPI_Aint)words[3];
    MPI_Win window = world->mpi->window;

    if (!world->has_window || repetitions > BENCH_PUTS_MOST)
        return MPI_SUCCESS;
    for (uint32_t i = 0; i < repetitions && code == MPI_SUCCESS; i++) {
        int64_t begin = clock_ns();

        code = MPI_Put(from, count, MPI_BYTE, peer, to, count, MPI_BYTE, window);
        if (code == MPI_SUCCESS)
            code = MPI_Win_flush(peer, window);
        us[i] = (double)(clock_ns() - begin) / 1e3;
    }
    *done = repetitions;
    return code;
}

static omprma_status_t serve(const struct world *world, const uint64_t *words, double *us,
                             uint32_t *count)
{
    enum bench_kind kind = bench_kind_of(words[0]);
    int code;

    *count = 0;
    mpi_yield_allow(true);
    if (kind == BENCH_PUT)
        code = put(world, words, us, count);
    else if (kind == BENCH_PING_PONG)
        code = ping_pong(world, words[1], words[2]);
    else
        code = one_way(world, kind, words[1], words[2], (void *)(uintptr_t)words[3]);
    mpi_yield_allow(false);
    return code == MPI_SUCCESS ? OMPRMA_OK : world_error(code, "measuring bare MPI");
}

/* ---- the application's half ---- */

static int put_or_get(const struct world *world, const struct bench_move *move)
{
    MPI_Win window = world->mpi->window;
    MPI_Aint there = (MPI_Aint)move->there;
    int code = MPI_SUCCESS;

    for (int done = 0, now; done < move->bytes && code == MPI_SUCCESS; done += now) {
        char *here = move->here + done;

        now = move->bytes - done < move->most ? move->bytes - done : move->most;
        code = move->put ? MPI_Put(here, now, MPI_BYTE, move->peer, there, now, MPI_BYTE, window)
                         : MPI_Get(here, now, MPI_BYTE, move->peer, there, now, MPI_BYTE, window);
    }
    return code == MPI_SUCCESS ? MPI_Win_flush(move->peer, window) : code;
}

static omprma_status_t move_bytes(const struct world *world, const struct bench_move *move,
                                  int times)
{
    int code = MPI_SUCCESS;

    mpi_yield_allow(true);
    for (int i = 0; i < times && code == MPI_SUCCESS; i++)
        code = put_or_get(world, move);
    mpi_yield_allow(false);
    return code == MPI_SUCCESS ? OMPRMA_OK : world_error(code, move->put ? "MPI_Put" : "MPI_Get");
}

static omprma_status_t exchange(const struct world *world, int peer, void *buffer, int out, int in,
                                int times)
{
    MPI_Comm comm = world->mpi->data;
    int code = MPI_SUCCESS;

    mpi_yield_allow(true);
    for (int i = 0; i < times && code == MPI_SUCCESS; i++) {
        code = MPI_Send(buffer, out, MPI_BYTE, peer, BENCH_TAG, comm);
        if (code == MPI_SUCCESS)
            code = MPI_Recv(buffer, in, MPI_BYTE, peer, BENCH_TAG, comm, MPI_STATUS_IGNORE);
    }
    mpi_yield_allow(false);
    return code == MPI_SUCCESS ? OMPRMA_OK : world_error(code, "a bare message");
}

const struct bench_ops mpi_bench = {.serve = serve, .move = move_bytes, .exchange = exchange};
