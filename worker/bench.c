/* bench.c: see bench.h. Blocks the worker for the time of the measurement. */
#include "worker/bench.h"

#include <limits.h>

#include "base/clock.h"
#include "base/log.h"
#include "control/mpi_yield.h"

enum { SMALL = 64 << 10 };

static void ping_pong(const struct server *server, uint64_t bytes, uint64_t repetitions)
{
    static char buffer[SMALL];
    int count = (int)(bytes < SMALL ? bytes : SMALL);

    for (uint64_t i = 0; i < repetitions; i++) {
        MPI_Recv(buffer, count, MPI_BYTE, server->head, BENCH_TAG, server->world->data,
                 MPI_STATUS_IGNORE);
        MPI_Send(buffer, count, MPI_BYTE, server->head, BENCH_TAG, server->world->data);
    }
}

static void one_way(const struct server *server, enum bench_kind kind, uint64_t bytes,
                    uint64_t repetitions, void *at)
{
    MPI_Comm comm = server->world->data;
    int head = server->head;

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
static uint32_t put(const struct server *server, const struct wire_record *record, double *us)
{
    uint32_t repetitions = bench_repetitions(record->word[0]);
    int count = (int)record->word[1], peer = bench_peer(record->word[0]);
    void *from = (void *)(uintptr_t)record->word[2];
    MPI_Aint to = (MPI_Aint)record->word[3];

    if (server->world->window == MPI_WIN_NULL || repetitions > BENCH_PUTS_MOST)
        return 0;
    for (uint32_t i = 0; i < repetitions; i++) {
        int64_t begin = clock_ns();

        MPI_Put(from, count, MPI_BYTE, peer, to, count, MPI_BYTE, server->world->window);
        MPI_Win_flush(peer, server->world->window);
        us[i] = (double)(clock_ns() - begin) / 1e3;
    }
    return repetitions;
}

/* Runs what the record asks for. Returns how many times were taken into `us`. */
static uint32_t measure(struct server *server, const struct wire_record *record, double *us)
{
    enum bench_kind kind = bench_kind_of(record->word[0]);
    uint64_t bytes = record->word[1], address = record->word[kind == BENCH_PUT ? 2 : 3];

    if (kind == BENCH_PING_PONG)
        ping_pong(server, bytes, record->word[2]);
    else if (!memory_holds(&server->memory, address, bytes) || bytes > INT_MAX)
        log_write(LOG_ERROR, "measurement of %llu bytes at 0x%llx refused",
                  (unsigned long long)bytes, (unsigned long long)address);
    else if (kind == BENCH_PUT)
        return put(server, record, us);
    else
        one_way(server, kind, bytes, record->word[2], (void *)(uintptr_t)address);
    return 0;
}

void bench_run(struct server *server, struct stream *stream, const struct wire_record *record)
{
    double us[BENCH_PUTS_MOST];
    uint32_t count;

    mpi_yield_allow(true);
    count = measure(server, record, us);
    mpi_yield_allow(false);
    if (record->flags & WIRE_REPLY)
        reply_append(server, WIRE_DONE, stream->number, record->op, count, us,
                     (uint32_t)(count * sizeof(*us)));
}
