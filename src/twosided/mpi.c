/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mpi.c: sends and receives straight between the memory of both ends, in pieces of the same
 * size at both ends, several under way. The tag tells transfers of different queues apart; pieces
 * of one transfer keep their order by MPI's matching rule.
 */
#include "twosided/mpi.h"

#include <mpi.h>
#include <stdlib.h>

#include "base/error.h"
#include "control/mpi/tags.h"
#include "control/mpi/world.h"

struct twosided {
    struct datapath base;
    MPI_Comm comm;
    uint64_t piece_bytes;
};

/* Of one transfer. */
struct pieces {
    MPI_Request request[TRANSFER_PIECES];
    uint32_t bytes[TRANSFER_PIECES];
};
_Static_assert(sizeof(struct pieces) <= TRANSFER_STATE_BYTES, "state of a transfer");

static struct pieces *pieces_of(struct transfer *transfer)
{
    return (struct pieces *)transfer->state;
}

/* Receives that nothing has come for yet can be taken back. Nothing is waited for: the other half
 * may never come. */
static void twosided_abandon(struct datapath *path, struct transfer *t)
{
    struct pieces *pieces = pieces_of(t);

    (void)path;
    for (int i = 0; i < TRANSFER_PIECES; i++)
        if (pieces->request[i] != MPI_REQUEST_NULL && t->direction == TRANSFER_IN)
            MPI_Cancel(&pieces->request[i]);
}

static omprma_status_t fail(struct datapath *path, struct transfer *t, int code, const char *what)
{
    twosided_abandon(path, t);
    return world_error(code, what);
}

static omprma_status_t issue_pieces(struct datapath *path, struct transfer *t)
{
    const struct twosided *self = (const struct twosided *)path;
    struct pieces *pieces = pieces_of(t);

    for (int i = 0; i < TRANSFER_PIECES && t->issued < t->bytes; i++) {
        uint64_t bytes = t->bytes - t->issued;
        char *at = (char *)t->local + t->issued;
        int tag = (int)(t->tag % DATA_TAGS), code;

        if (pieces->request[i] != MPI_REQUEST_NULL)
            continue;
        if (bytes > self->piece_bytes)
            bytes = self->piece_bytes;
        if (t->direction == TRANSFER_OUT)
            code = MPI_Isend(at, t->empty ? 0 : (int)bytes, MPI_BYTE, t->peer, tag, self->comm,
                             &pieces->request[i]);
        else
            code =
                MPI_Irecv(at, (int)bytes, MPI_BYTE, t->peer, tag, self->comm, &pieces->request[i]);
        if (code != MPI_SUCCESS) {
            pieces->request[i] = MPI_REQUEST_NULL;
            return fail(path, t, code, "starting a two-sided transfer");
        }
        pieces->bytes[i] = (uint32_t)bytes;
        t->issued += bytes;
    }
    return OMPRMA_OK;
}

static omprma_status_t twosided_start(struct datapath *path, struct transfer *t)
{
    struct pieces *pieces = pieces_of(t);

    for (int i = 0; i < TRANSFER_PIECES; i++)
        pieces->request[i] = MPI_REQUEST_NULL;
    return issue_pieces(path, t);
}

static omprma_status_t twosided_test(struct datapath *path, struct transfer *t, bool *done)
{
    struct pieces *pieces = pieces_of(t);
    omprma_status_t status = OMPRMA_OK;

    *done = false;
    for (int i = 0; i < TRANSFER_PIECES; i++) {
        int over = 0, count = 1, code;
        MPI_Status how;

        if (pieces->request[i] == MPI_REQUEST_NULL)
            continue;
        code = MPI_Test(&pieces->request[i], &over, &how);
        if (code != MPI_SUCCESS) {
            pieces->request[i] = MPI_REQUEST_NULL; /* it is over */
            return fail(path, t, code, "a two-sided transfer");
        }
        if (!over)
            continue;
        if (t->direction == TRANSFER_IN)
            code = MPI_Get_count(&how, MPI_BYTE, &count);
        if (code != MPI_SUCCESS)
            return fail(path, t, code, "a two-sided transfer");
        t->completed += pieces->bytes[i];
        t->empty |= count == 0;
    }
    if (t->issued < t->bytes)
        status = issue_pieces(path, t);
    *done = t->completed == t->bytes;
    return status;
}

static void twosided_destroy(struct datapath *path)
{
    free(path);
}

omprma_status_t twosided_create(const struct world *world, struct datapath **path)
{
    struct twosided *self = calloc(1, sizeof(*self));

    if (!self)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the two-sided data path");
    self->base = (struct datapath){
        .name = "two-sided",
        .one_sided = false,
        .start = twosided_start,
        .test = twosided_test,
        .abandon = twosided_abandon,
        .destroy = twosided_destroy,
    };
    self->comm = world->mpi->data;
    self->piece_bytes = world->settings.piece_bytes;
    *path = &self->base;
    return OMPRMA_OK;
}
