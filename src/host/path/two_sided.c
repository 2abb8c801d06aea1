/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * two_sided.c: the program sends and the worker receives, or the other way round: a command that
 * tells the worker, and a transfer that begins when that has left. The tag brings both ends
 * together. The data of a submit is in the device when the command has ended, that of a retrieve is
 * here when the transfer has ended well.
 */
#include "host/path/path.h"
#include "host/queue/append.h"

static bool takes(const struct hop *hop)
{
    const struct hop_end *there = hop_there(hop);

    return hop_is_of_program(hop) && (there->staged || !device_is_staged(there->device));
}

static bool wants(const struct hop *hop)
{
    return !hop_is_reused(hop);
}

static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    struct runtime *runtime = hop->queue->device->runtime;
    bool submit = hop_is_submit(hop);
    const struct hop_end *there = hop_there(hop);
    struct transfer transfer = hop_transfer(hop, runtime->next_tag++);
    struct wire_record record = {
        .code = submit ? WIRE_RECV : WIRE_SEND,
        .flags = there->staged ? WIRE_STAGED : 0,
        .word = {there->at, hop->bytes, transfer.tag, (uint64_t)runtime->world.rank},
    };
    struct operation *move;
    omprma_status_t status =
        queue_append_with_command(hop->queue, &path_two_sided, &transfer, &record, &move);

    if (status != OMPRMA_OK)
        return status;
    *operation = submit ? move->move.command : move;
    hop_carried(hop, &path_two_sided, *operation);
    move->is_part = hop->is_part;
    return OMPRMA_OK;
}

static struct datapath *datapath_of(const struct operation *move)
{
    return move->queue->device->runtime->two_sided;
}

/* The worker waits for the other half. */
static void give_up(struct operation *move)
{
    struct device *device = move->queue->device;

    move->start_ns = 0;
    peer_lose(device->peer, "%s: %s", device_name(device), error_text());
}

static omprma_status_t start(struct operation *move)
{
    if (datapath_start(datapath_of(move), &move->move.transfer) != OMPRMA_OK)
        give_up(move);
    return OMPRMA_OK;
}

/* The worker has sent no data, because its end has failed: its answer says how. */
static bool is_refused(const struct operation *move)
{
    const struct transfer *transfer = &move->move.transfer;

    return transfer->empty && transfer->completed == transfer->bytes;
}

/* One that was refused ends with its command, and with its failure: whoever waits for the data must
 * not take what is here for it. */
static omprma_status_t progress(struct operation *move, bool *done)
{
    if (!is_refused(move) &&
        datapath_test(datapath_of(move), &move->move.transfer, done) != OMPRMA_OK) {
        give_up(move);
        return OMPRMA_OK;
    }
    if (is_refused(move)) {
        queue_want(move->queue, move->move.command->number);
        *done = operation_has_ended(move->move.command);
    }
    return OMPRMA_OK;
}

static void abandon(struct operation *move)
{
    datapath_abandon(datapath_of(move), &move->move.transfer);
}

const struct path_ops path_two_sided = {
    .name = "two-sided",
    .path = PATH_TWO_SIDED,
    .moves = {"two-sided transfer", "two-sided transfer"},
    .flushes = true,
    .takes = takes,
    .wants = wants,
    .append = append,
    .start = start,
    .progress = progress,
    .abandon = abandon,
};
