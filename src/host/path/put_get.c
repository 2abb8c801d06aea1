/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * put_get.c: the program puts into a worker's window, or gets from it. The worker takes no part.
 */
#include "host/core/attach_order.h"
#include "host/path/path.h"
#include "host/queue/append.h"

static bool takes(const struct hop *hop)
{
    const struct hop_end *there = hop_there(hop);

    return hop_is_of_program(hop) && there->arena && device_is_one_sided(there->device) &&
           (there->staged || !device_is_staged(there->device));
}

static bool wants(const struct hop *hop)
{
    return paths_one_sided(&hop_there(hop)->device->paths, hop_is_submit(hop), hop->bytes);
}

static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    struct transfer transfer = hop_transfer(hop, 0);
    omprma_status_t status = queue_append_transfer(hop->queue, &path_put_get, &transfer, operation);

    if (status == OMPRMA_OK)
        (*operation)->is_part = hop->is_part;
    return status;
}

static struct datapath *datapath_of(const struct operation *move)
{
    return move->queue->device->runtime->one_sided;
}

static bool may_begin(struct operation *move)
{
    return peer_takes_part(move->queue->device->peer, move->move.transfer.bytes);
}

static omprma_status_t start(struct operation *move)
{
    return datapath_start(datapath_of(move), &move->move.transfer);
}

static omprma_status_t progress(struct operation *move, bool *done)
{
    struct peer *peer = move->queue->device->peer;
    struct transfer *transfer = &move->move.transfer;
    omprma_status_t status = OMPRMA_OK;

    if (attach_order_moves(peer) || !peer_takes_part(peer, transfer->bytes - transfer->completed))
        return OMPRMA_OK; /* its next piece may not begin */
    status = datapath_test(datapath_of(move), transfer, done);
    if (status == OMPRMA_OK && !*done)
        peer_keep_awake(peer, transfer->bytes - transfer->completed);
    return status;
}

static void abandon(struct operation *move)
{
    datapath_abandon(datapath_of(move), &move->move.transfer);
}

const struct path_ops path_put_get = {
    .name = "rma",
    .path = PATH_RMA,
    .moves = {"put", "get"},
    .takes = takes,
    .wants = wants,
    .append = append,
    .may_begin = may_begin,
    .start = start,
    .progress = progress,
    .abandon = abandon,
};
