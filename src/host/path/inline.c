/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * inline.c: small data in a control message. A submit to an arena cannot fail, so nobody waits for
 * it; elsewhere it is a command with a result. A retrieve comes back in the result of its command.
 */
#include "host/path/path.h"
#include "host/queue/append.h"

static bool takes(const struct hop *hop)
{
    return hop_is_of_program(hop) && !hop_there(hop)->staged && hop->bytes <= HOP_INLINE_MOST;
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

    if (status == OMPRMA_OK)
        hop_carried(hop, &path_inline, *operation);
    return status;
}

const struct path_ops path_inline = {
    .name = "inline", .path = PATH_INLINE, .takes = takes, .append = append};
