/* bench.c: see bench.h. Blocks the worker for the time of the measurement. */
#include "worker/bench.h"

#include <stdlib.h>

#include "base/clock.h"

enum { SMALL = 64 << 10, REPETITIONS_MOST = 4096 };

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

static void one_way(const struct server *server, int kind, uint64_t bytes, uint64_t repetitions,
                    void *at)
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

/* Puts to a peer and times each. */
static uint32_t put(const struct server *server, uint64_t bytes, uint64_t word, uint64_t remote,
                    double *us)
{
    uint32_t repetitions = (uint32_t)(word >> 32), peer = (uint32_t)word;
    void *from = (void *)(uintptr_t)server->memory.arenas[0].base;

    if (repetitions > REPETITIONS_MOST || bytes > server->memory.arenas[0].bytes)
        return 0;
    for (uint32_t i = 0; i < repetitions; i++) {
        int64_t begin = clock_ns();

        MPI_Put(from, (int)bytes, MPI_BYTE, (int)peer, (MPI_Aint)remote, (int)bytes, MPI_BYTE,
                server->world->window);
        MPI_Win_flush((int)peer, server->world->window);
        us[i] = (double)(clock_ns() - begin) / 1e3;
    }
    return repetitions;
}

void bench_run(struct server *server, struct stream *stream, const struct wire_record *record)
{
    uint64_t kind = record->word[0], bytes = record->word[1], repetitions = record->word[2];
    uint64_t address = record->word[3];
    double *us = NULL;
    uint32_t count = 0;

    if (kind == BENCH_PUT) {
        us = calloc(REPETITIONS_MOST, sizeof(*us));
        if (us && server->world->window != MPI_WIN_NULL)
            count = put(server, bytes, repetitions, address, us);
    } else if (kind == BENCH_PING_PONG) {
        ping_pong(server, bytes, repetitions);
    } else if (memory_holds(&server->memory, address, bytes)) {
        one_way(server, (int)kind, bytes, repetitions, (void *)(uintptr_t)address);
    }
    if (record->flags & WIRE_REPLY)
        reply_append(server, WIRE_DONE, stream->number, record->op, count, us,
                     (uint32_t)(count * sizeof(*us)));
    free(us);
}
