/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * inline.c: small data in a control message. A submit to an arena cannot fail, so nobody waits for
 * it; elsewhere it is a command with a result. A retrieve comes back in the result of its command.
 */
#include "host/path/path.h"
#include "host/queue/append.h"

enum {
    SUBMIT_LEAST = 256 /* bytes: to a message with a launch so many add less than a copy takes */
};

static bool takes(const struct hop *hop)
{
    return hop_is_of_program(hop) && !hop_there(hop)->staged && hop->bytes <= HOP_INLINE_MOST;
}

/* What is read from an arena may be longer where a result comes anyway. */
static uint64_t read_limit(const struct hop *hop)
{
    const struct omprma_queue *queue = hop->queue;
    const struct paths *paths = &hop->from.device->paths;
    bool comes = queue->open && queue->hazard >= queue->open_first->number;

    return !hop->from.arena ? HOP_INLINE_MOST / 4
           : comes          ? paths->inline_retrieve_fused
                            : paths->inline_retrieve;
}

static uint64_t write_limit(const struct hop *hop)
{
    return hop->stays       ? 0
           : !hop->to.arena ? OMPRMA_COPIED_SUBMIT
                            : hop->to.device->paths.inline_submit;
}

/* In an idle queue a message carries nothing else: where the program has mapped the arena, it
 * copies in less time than a message takes, but for the smallest submits, which nobody waits for.
 * Limits that the user has set hold. */
static bool is_copied(const struct hop *hop)
{
    const struct config *config = &hop->queue->device->runtime->config;
    bool submit = hop_is_submit(hop);

    return (submit ? config->inline_submit : config->inline_retrieve) < 0 &&
           (!submit || hop->bytes > SUBMIT_LEAST) && !hop->scattered && queue_is_idle(hop->queue) &&
           path_shared.takes(hop);
}

static bool wants(const struct hop *hop)
{
    return hop->bytes <= (hop_is_submit(hop) ? write_limit(hop) : read_limit(hop)) &&
           !is_copied(hop);
}

static omprma_status_t append_write(const struct hop *hop, struct operation **operation)
{
    bool arena = hop->to.arena;
    struct wire_record record = {
        .code = WIRE_WRITE,
        .flags = arena ? 0 : WIRE_REPLY,
        .word = {hop->to.at},
        .tail = (const void *)(uintptr_t)hop->from.at,
        .tail_bytes = (uint32_t)hop->bytes,
    };

    return queue_append_command(hop->queue, arena ? OPERATION_WRITE : OPERATION_COMMAND, &record,
                                operation);
}

static omprma_status_t append_read(const struct hop *hop, struct operation **operation)
{
    return queue_append_read(hop->queue, hop->from.at, hop->bytes, (void *)(uintptr_t)hop->to.at,
                             hop->parts, !hop->from.arena, operation);
}

static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    omprma_status_t status =
        hop_is_submit(hop) ? append_write(hop, operation) : append_read(hop, operation);

    if (status != OMPRMA_OK)
        return status;
    hop_carried(hop, &path_inline, *operation);
    if (!hop->is_part)
        observe_inline(hop->queue->device->runtime->observers, hop->queue, hop_data(hop),
                       hop->bytes);
    return OMPRMA_OK;
}

const struct path_ops path_inline = {
    .name = "inline",
    .path = PATH_INLINE,
    .takes = takes,
    .wants = wants,
    .append = append,
};
