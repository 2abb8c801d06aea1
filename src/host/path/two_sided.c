/*
 * two_sided.c: the program sends and the worker receives, or the other way round. A command tells
 * the worker; the tag brings both ends together.
 */
#include "host/append.h"
#include "host/path/path.h"

static bool takes(const struct hop *hop)
{
    const struct hop_end *there = hop_there(hop);

    return hop_is_of_program(hop) && (there->staged || !device_is_staged(there->device));
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
    omprma_status_t status = queue_append_half(hop->queue, &record, &transfer,
                                               submit ? DATA_SUBMIT : DATA_RETRIEVE, operation);

    if (status == OMPRMA_OK)
        (*operation)->is_part = hop->is_part;
    return status;
}

const struct path_ops path_two_sided = {.name = "two-sided", .takes = takes, .append = append};
