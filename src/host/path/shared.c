/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * shared.c: within a host, the program copies to a worker's arena or staging memory, or from it,
 * where it has mapped that (control/shm/arena.h). Neither the worker nor MPI has a part in it. Of a
 * large transfer each look at its queue copies a piece, so that other queues get on. A thread helps
 * (split.h).
 */
#include "control/shm/split.h"
#include "host/path/path.h"
#include "host/queue/append.h"

static bool takes(const struct hop *hop)
{
    const struct hop_end *there = hop_there(hop);

    return hop_is_of_program(hop) && there->arena && there->device->paths.shared &&
           (there->staged || !device_is_staged(there->device)) &&
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

_Static_assert(sizeof(struct split) <= TRANSFER_STATE_BYTES, "a copy under way");

static struct split *split_of(struct operation *move)
{
    return (struct split *)(void *)move->move.transfer.state;
}

/* The arena stays for as long as blocks of it are in use. */
static omprma_status_t start(struct operation *move)
{
    struct device *device = move->queue->device;
    struct transfer *transfer = &move->move.transfer;

    split_begin(split_of(move), &device->runtime->copier,
                mapped_find(&device->mapped, transfer->remote, transfer->bytes), transfer);
    return OMPRMA_OK;
}

static omprma_status_t progress(struct operation *move, bool *done)
{
    *done = split_progress(split_of(move));
    return OMPRMA_OK;
}

/* Its device is lost. */
static void abandon(struct operation *move)
{
    split_leave(split_of(move));
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
    .abandon = abandon,
};
