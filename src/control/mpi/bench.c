/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bench.c: The worker's half mirrors what omprma-perf does: receive and send in turns, or puts
 * of its own, each timed with its flush. The numbers come in the record that asks for it.
 */
#include "control/mpi/bench.h"

#include "base/clock.h"
#include "control/mpi/tags.h"
#include "control/mpi/world.h"
#include "control/mpi/yield.h"

enum { SMALL = 64 << 10 };

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

omprma_status_t mpi_bench_run(const struct world *world, const uint64_t *words, double *us,
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
