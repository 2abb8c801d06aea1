/* mpi_bench.c: see mpi_bench.h. */
#include "control/mpi_bench.h"

#include "base/clock.h"
#include "control/mpi_world.h"
#include "control/mpi_yield.h"
#include "control/tags.h"

enum { SMALL = 64 << 10 };

static void ping_pong(const struct world *world, uint64_t bytes, uint64_t repetitions)
{
    static char buffer[SMALL];
    int count = (int)(bytes < SMALL ? bytes : SMALL), head = world->head;
    MPI_Comm comm = world->mpi->data;

    for (uint64_t i = 0; i < repetitions; i++) {
        MPI_Recv(buffer, count, MPI_BYTE, head, BENCH_TAG, comm, MPI_STATUS_IGNORE);
        MPI_Send(buffer, count, MPI_BYTE, head, BENCH_TAG, comm);
    }
}

static void one_way(const struct world *world, enum bench_kind kind, uint64_t bytes,
                    uint64_t repetitions, void *at)
{
    MPI_Comm comm = world->mpi->data;
    int head = world->head;

    for (uint64_t i = 0; i < repetitions; i++) {
        if (kind == BENCH_RECEIVE) {
            MPI_Recv(at, (int)bytes, MPI_BYTE, head, BENCH_TAG, comm, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, head, BENCH_TAG, comm);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, head, BENCH_TAG, comm, MPI_STATUS_IGNORE);
            MPI_Send(at, (int)bytes, MPI_BYTE, head, BENCH_TAG, comm);
        }
    }
}

/* Puts to a peer and times each. Returns how many there were. */
static uint32_t put(const struct world *world, const uint64_t *words, double *us)
{
    uint32_t repetitions = bench_repetitions(words[0]);
    int count = (int)words[1], peer = bench_peer(words[0]);
    void *from = (void *)(uintptr_t)words[2];
    MPI_Aint to = (MPI_Aint)words[3];
    MPI_Win window = world->mpi->window;

    if (!world->has_window || repetitions > BENCH_PUTS_MOST)
        return 0;
    for (uint32_t i = 0; i < repetitions; i++) {
        int64_t begin = clock_ns();

        MPI_Put(from, count, MPI_BYTE, peer, to, count, MPI_BYTE, window);
        MPI_Win_flush(peer, window);
        us[i] = (double)(clock_ns() - begin) / 1e3;
    }
    return repetitions;
}

uint32_t mpi_bench_run(const struct world *world, const uint64_t *words, double *us)
{
    enum bench_kind kind = bench_kind_of(words[0]);
    uint32_t count = 0;

    mpi_yield_allow(true);
    if (kind == BENCH_PUT)
        count = put(world, words, us);
    else if (kind == BENCH_PING_PONG)
        ping_pong(world, words[1], words[2]);
    else
        one_way(world, kind, words[1], words[2], (void *)(uintptr_t)words[3]);
    mpi_yield_allow(false);
    return count;
}
