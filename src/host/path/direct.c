/*
 * direct.c: from device to device without the program. Workers move the data, each told by a
 * command of its own:
 * - copy: both ends are in one worker, which copies; so it does between a device and its staging
 *   memory.
 * - put: the source puts into the destination's window.
 * - get: the destination gets from the source's window.
 * - send: the source sends, and the destination receives. Both commands leave together, so that
 *   neither end waits for long: the receive is held until the send is issued. It stands in a queue
 *   of ours that nothing else holds up.
 */
#include "host/path/path.h"
#include "host/queue/append.h"

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

static bool is_between_workers(const struct hop *hop)
{
    return !hop_is_of_program(hop) && !is_within_worker(hop);
}

/* Puts and gets reach it. */
static bool is_reached(const struct hop_end *end)
{
    return device_is_one_sided(end->device) && end->arena;
}

static bool is_reached_at_both_ends(const struct hop *hop)
{
    return is_between_workers(hop) && is_reached(&hop->from) && is_reached(&hop->to);
}

/* The exchange is with the device at the other end. What a lost worker has begun cannot be taken
 * back, so a device keeps its memory then; a slot of staging memory is spoilt instead. */
static void name_other(struct operation *command, const struct hop *hop,
                       const struct hop_end *other)
{
    command->with = other->staged ? NULL : other->device;
    command->is_part = hop->is_part;
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
        name_other(*operation, hop, to);
    return status;
}

static omprma_status_t append_put(const struct hop *hop, struct operation **operation)
{
    const struct hop_end *from = &hop->from, *to = &hop->to;
    struct wire_record record = {
        .code = WIRE_PUT,
        .flags = flags_of(from),
        .word = {from->at, to->at, hop->bytes, rank_of(to)},
    };
    omprma_status_t status;

    peer_keep_awake(to->device->peer);
    status = queue_append_access(hop->queue, to->device->peer, &record, operation);
    if (status == OMPRMA_OK)
        name_other(*operation, hop, to);
    return status;
}

static omprma_status_t append_get(const struct hop *hop, struct operation **operation)
{
    const struct hop_end *from = &hop->from, *to = &hop->to;
    struct wire_record record = {
        .code = WIRE_GET,
        .flags = flags_of(to),
        .word = {to->at, from->at, hop->bytes, rank_of(from)},
    };
    omprma_status_t status;

    peer_keep_awake(from->device->peer);
    status = queue_append_access(hop->queue, from->device->peer, &record, operation);
    if (status == OMPRMA_OK)
        name_other(*operation, hop, from);
    return status;
}

/* The receiver's message leaves with the sender's. */
static void hold_receiver(struct omprma_queue *receiver, struct operation *sender)
{
    operation_drop(&receiver->device->runtime->operations, receiver->sender);
    receiver->sender = operation_hold(sender);
    receiver->held = true;
    sender->releases = receiver;
}

static omprma_status_t append_send(const struct hop *hop, struct operation **operation)
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
    omprma_status_t status = queue_append_command(hop->receiver, OPERATION_COMMAND, &in, operation);

    if (status == OMPRMA_OK)
        status = queue_append_command(hop->queue, OPERATION_COMMAND, &out, &sender);
    if (status != OMPRMA_OK)
        return status;
    name_other(sender, hop, to);
    hold_receiver(hop->receiver, sender);
    return OMPRMA_OK;
}

const struct path_ops path_copy = {
    .name = "copy", .path = PATH_INLINE, .takes = is_within_worker, .append = append_copy};
const struct path_ops path_put = {
    .name = "put", .path = PATH_RMA, .takes = is_reached_at_both_ends, .append = append_put};
const struct path_ops path_get = {
    .name = "get", .path = PATH_RMA, .takes = is_reached_at_both_ends, .append = append_get};
const struct path_ops path_send = {
    .name = "send", .path = PATH_TWO_SIDED, .takes = is_between_workers, .append = append_send};
