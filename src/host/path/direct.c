/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * direct.c: from device to device without the program. Workers move the data, each told by a
 * command of its own:
 * - copy: both ends are in one worker, which copies; so it does between a device and its staging
 *   memory.
 * - put: the source puts into the destination's window.
 * - copy to: the source copies into the destination's arena, which it has mapped: a put that MPI
 *   has no part in. It is told of the arena before.
 * - get: the destination gets from the source's window, in a subqueue that follows the hop's queue.
 * - send: the source sends, and the destination receives. Both commands leave together, so that
 *   neither end waits for long: the receive is held until the send is issued. It stands in a queue
 *   of ours that nothing else holds up.
 */
#include "host/core/told.h"
#include "host/path/path.h"
#include "host/queue/append.h"
#include "host/queue/order.h"
#include "host/queue/subqueue.h"

static uint16_t flags_of(const struct hop_end *end)
{
    return end->staged ? WIRE_STAGED : 0;
}

static uint64_t rank_of(const struct hop_end *end)
{
    return (uint64_t)end->device->peer->rank;
}

static bool is_within_worker(const struct hop *hop)
{
    return !hop_is_of_program(hop) && hop->from.device->peer == hop->to.device->peer;
}

/* Puts and gets reach it. */
static bool is_reached(const struct hop_end *end)
{
    return device_is_one_sided(end->device) && end->arena;
}

static bool is_reached_at_both_ends(const struct hop *hop)
{
    return hop_is_between_workers(hop) && is_reached(&hop->from) && is_reached(&hop->to);
}

/* The exchange is with the device at the other end. What a lost worker has begun cannot be taken
 * back, so a device keeps its memory then; a slot of staging memory is spoilt instead. */
static void carries(struct operation *command, const struct hop *hop, const struct path_ops *by,
                    const struct hop_end *other)
{
    hop_carried(hop, by, command);
    if (!other->staged)
        queue_use(command, other->device);
}

static omprma_status_t append_copy(const struct hop *hop, struct operation **operation)
{
    const struct hop_end *from = &hop->from, *to = &hop->to;
    struct wire_record copy = {.code = WIRE_COPY,
                               .word = {to->at, from->at, hop->bytes, to->device->index}};
    struct wire_record store = {.code = WIRE_STORE, .word = {to->at, from->at, hop->bytes}};
    struct wire_record fetch = {.code = WIRE_FETCH, .word = {from->at, to->at, hop->bytes}};
    struct wire_record *record = from->staged ? &store : to->staged ? &fetch : &copy;
    omprma_status_t status = queue_append_command(hop->queue, OPERATION_COMMAND, record, operation);

    if (status == OMPRMA_OK && record == &copy)
        carries(*operation, hop, &path_copy, to);
    return status;
}

/* Small submits to the range that may still be on their way to the device come first. */
static omprma_status_t wait_for_writes(struct omprma_queue *queue, const struct hop_end *range,
                                       uint64_t bytes)
{
    struct operation *write = NULL;
    omprma_status_t status = OMPRMA_OK;

    while (status == OMPRMA_OK &&
           (write = order_next_write(range->device, range->at, bytes, write)) != NULL)
        if (write->queue != queue)
            status = queue_append_wait(queue, write, WAIT_ORDER);
    return status;
}

/* Within a host, MPI does not come back from a copy to or from a process that has died. Where the
 * run goes on without that process, the worker that copies has to go on as well. */
static omprma_status_t watch_death(struct peer *copier, const struct peer *other)
{
    return copier->runtime->config.on_loss == ON_LOSS_CONTINUE && peer_shares_host(copier, other)
               ? told_of_bell(copier, other)
               : OMPRMA_OK;
}

/* The command accesses the memory at the other end. */
static omprma_status_t append_access(const struct hop *hop, const struct path_ops *by,
                                     const struct hop_end *other, struct wire_record *record,
                                     struct operation **operation)
{
    omprma_status_t status = watch_death(hop->queue->device->peer, other->device->peer);

    if (status != OMPRMA_OK)
        return status;
    peer_keep_awake(other->device->peer, hop->bytes);
    status = queue_append_access(hop->queue, other->device->peer, record, operation);
    if (status == OMPRMA_OK)
        carries(*operation, hop, by, other);
    return status;
}

/* The pieces of what is staged have waited for writes. */
static omprma_status_t append_put_by(const struct hop *hop, const struct path_ops *by,
                                     struct operation **operation)
{
    const struct hop_end *from = &hop->from, *to = &hop->to;
    struct wire_record record = {
        .code = WIRE_PUT,
        .flags = flags_of(from) | (by == &path_copy_to ? WIRE_MAPPED : 0),
        .word = {from->at, to->at, hop->bytes, rank_of(to)},
    };
    omprma_status_t status = hop->is_part ? OMPRMA_OK : wait_for_writes(hop->queue, to, hop->bytes);

    return status == OMPRMA_OK ? append_access(hop, by, to, &record, operation) : status;
}

static omprma_status_t append_put(const struct hop *hop, struct operation **operation)
{
    return append_put_by(hop, &path_put, operation);
}

/* Workers can map what the program could. */
static bool is_mapped(const struct hop *hop)
{
    const struct hop_end *from = &hop->from, *to = &hop->to;

    return is_reached_at_both_ends(hop) && from->device->runtime->exchange[0].copies &&
           !to->staged && from->device->native &&
           peer_shares_host(from->device->peer, to->device->peer) &&
           mapped_find(&to->device->mapped, to->at, hop->bytes);
}

static omprma_status_t append_copy_to(const struct hop *hop, struct operation **operation)
{
    const struct hop_end *from = &hop->from, *to = &hop->to;
    const struct arena *arena = mapped_find(&to->device->mapped, to->at, hop->bytes);
    omprma_status_t status = told_of(from->device->peer, to->device->peer, arena);

    return status == OMPRMA_OK ? append_put_by(hop, &path_copy_to, operation) : status;
}

static omprma_status_t append_get(const struct hop *hop, struct operation **operation)
{
    const struct hop_end *from = &hop->from, *to = &hop->to;
    struct hop there = *hop;
    struct wire_record record = {
        .code = WIRE_GET,
        .flags = flags_of(to),
        .word = {to->at, from->at, hop->bytes, rank_of(from)},
    };
    omprma_status_t status = subqueue_open(to->device, hop->queue, &there.queue);

    if (status != OMPRMA_OK)
        return status;
    there.is_part = true;
    status = wait_for_writes(there.queue, from, hop->bytes);
    if (status == OMPRMA_OK)
        status = append_access(&there, &path_get, from, &record, operation);
    return status == OMPRMA_OK ? OMPRMA_OK : subqueue_let_go(there.queue, status);
}

/* The receiver's message leaves with the sender's. */
static void hold_receiver(struct omprma_queue *receiver, struct operation *sender)
{
    operation_drop(&receiver->device->runtime->operations, receiver->sender);
    receiver->sender = operation_hold(sender);
    receiver->held = true;
    sender->releases = receiver;
}

static omprma_status_t append_both(const struct hop *hop, struct omprma_queue *receiver,
                                   struct operation **operation)
{
    const struct hop_end *from = &hop->from, *to = &hop->to;
    uint32_t tag = hop->queue->device->runtime->next_tag++;
    struct wire_record out = {
        .code = WIRE_SEND,
        .flags = flags_of(from),
        .word = {from->at, hop->bytes, tag, rank_of(to)},
    };
    struct wire_record in = {
        .code = WIRE_RECV,
        .flags = flags_of(to),
        .word = {to->at, hop->bytes, tag, rank_of(from)},
    };
    struct operation *sender;
    omprma_status_t status = queue_append_command(receiver, OPERATION_COMMAND, &in, operation);

    if (status == OMPRMA_OK)
        status = queue_append_command(hop->queue, OPERATION_COMMAND, &out, &sender);
    if (status != OMPRMA_OK)
        return status;
    hop_carried(hop, &path_send, *operation);
    carries(sender, hop, &path_send, to);
    hold_receiver(receiver, sender);
    return OMPRMA_OK;
}

static omprma_status_t append_send(const struct hop *hop, struct operation **operation)
{
    struct omprma_queue *receiver = hop->receiver;
    omprma_status_t status = receiver ? OMPRMA_OK : subqueue_open(hop->to.device, NULL, &receiver);

    if (status != OMPRMA_OK)
        return status;
    status = append_both(hop, receiver, operation);
    return status == OMPRMA_OK || hop->receiver ? status : subqueue_let_go(receiver, status);
}

const struct path_ops path_copy = {
    .name = "copy", .path = PATH_INLINE, .takes = is_within_worker, .append = append_copy};
const struct path_ops path_put = {
    .name = "put", .path = PATH_RMA, .takes = is_reached_at_both_ends, .append = append_put};
const struct path_ops path_copy_to = {
    .name = "copy to", .path = PATH_SHARED, .takes = is_mapped, .append = append_copy_to};
const struct path_ops path_get = {
    .name = "get", .path = PATH_RMA, .takes = is_reached_at_both_ends, .append = append_get};
const struct path_ops path_send = {
    .name = "send", .path = PATH_TWO_SIDED, .takes = hop_is_between_workers, .append = append_send};
