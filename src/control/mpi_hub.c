/* mpi_hub.c: see mpi_hub.h. The messages are so small that MPI sends them without waiting for a
 * receiver.
 */
#include "control/mpi_hub.h"

#include <mpi.h>
#include <string.h>

#include "control/tags.h"

static int send(const void *data, size_t bytes, int to)
{
    return MPI_Send(data, (int)bytes, MPI_BYTE, to, START_TAG, MPI_COMM_WORLD);
}

static int receive(void *data, size_t bytes, int from)
{
    return MPI_Recv(data, (int)bytes, MPI_BYTE, from, START_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int hub_gather(const struct world *world, int hub, const void *mine, void *all, size_t bytes)
{
    int code = MPI_SUCCESS;

    if (world->rank != hub)
        return send(mine, bytes, hub);
    memcpy((char *)all + (size_t)hub * bytes, mine, bytes);
    for (int rank = 0; rank < world->size && code == MPI_SUCCESS; rank++)
        if (rank != hub)
            code = receive((char *)all + (size_t)rank * bytes, bytes, rank);
    return code;
}

int hub_collect(const struct world *world, int hub, const void *mine, size_t bytes,
                void *const *all, const size_t *all_bytes)
{
    int code = MPI_SUCCESS;

    if (world->rank != hub)
        return send(mine, bytes, hub);
    for (int rank = 0; rank < world->size && code == MPI_SUCCESS; rank++)
        if (rank != hub)
            code = receive(all[rank], all_bytes[rank], rank);
    return code;
}

/* `stride` 0 gives the same to everybody. */
static int deliver(const struct world *world, int hub, const char *all, size_t stride, size_t bytes)
{
    int code = MPI_SUCCESS;

    for (int rank = 0; rank < world->size && code == MPI_SUCCESS; rank++)
        if (rank != hub)
            code = send(all + (size_t)rank * stride, bytes, rank);
    return code;
}

int hub_scatter(const struct world *world, int hub, const void *all, void *mine, size_t bytes)
{
    if (world->rank != hub)
        return receive(mine, bytes, hub);
    memcpy(mine, (const char *)all + (size_t)hub * bytes, bytes);
    return deliver(world, hub, all, bytes, bytes);
}

int hub_spread(const struct world *world, int hub, void *data, size_t bytes)
{
    return world->rank == hub ? deliver(world, hub, data, 0, bytes) : receive(data, bytes, hub);
}

int hub_any(const struct world *world, int hub, bool mine, bool *any)
{
    int code = MPI_SUCCESS;

    *any = mine;
    if (world->rank != hub)
        code = send(&mine, sizeof(mine), hub);
    for (int rank = 0; world->rank == hub && rank < world->size && code == MPI_SUCCESS; rank++) {
        bool other = false;

        if (rank != hub)
            code = receive(&other, sizeof(other), rank);
        *any |= other;
    }
    return code == MPI_SUCCESS ? hub_spread(world, hub, any, sizeof(*any)) : code;
}
