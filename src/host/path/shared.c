/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * shared.c: within a host, the program copies to a worker's arena or from it, where it has mapped
 * that (control/shm/arena.h). Neither the worker nor MPI has a part in it. Of a large transfer each
 * look at its queue copies a piece, so that other queues get on.
 */
#include "control/shm/arena.h"
#include "host/path/path.h"
#include "host/queue/append.h"

static bool takes(const struct hop *hop)
{
    const struct hop_end *there = hop_there(hop);

    return hop_is_of_program(hop) && there->arena && there->device->paths.shared &&
           mapped_find(&there->device->mapped, there->at, hop->bytes);
}

static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    struct transfer transfer = hop_transfer(hop, 0);
    omprma_status_t status = queue_append_transfer(hop->queue, &path_shared, &transfer, operation);

    if (status == OMPRMA_OK)
        (*operation)->is_part = hop->is_part;
    return status;
}

/* It stays for as long as blocks of it are in use. */
static const struct arena **arena_of(struct operation *move)
{
    return (const struct arena **)(void *)move->move.transfer.state;
}

static omprma_status_t progress(struct operation *move, bool *done)
{
    *done = arena_move(*arena_of(move), &move->move.transfer);
    return OMPRMA_OK;
}

static omprma_status_t start(struct operation *move)
{
    struct transfer *transfer = &move->move.transfer;

    transfer->issued = transfer->completed = 0;
    *arena_of(move) = mapped_find(&move->queue->device->mapped, transfer->remote, transfer->bytes);
    return OMPRMA_OK;
}

const struct path_ops path_shared = {
    .name = "shared",
    .path = PATH_SHARED,
    .moves = {"copy", "copy"},
    .copies = true,
    .takes = takes,
    .append = append,
    .start = start,
    .progress = progress,
};
