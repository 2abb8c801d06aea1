/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * command.c: the table of commands, and those that only keep order: a fence, a wait for another
 * queue, the reset of a queue that has failed. Nothing for the device is in these.
 */
#include "worker/command.h"

#include "base/clock.h"
#include "base/error.h"
#include "worker/worker.h"

enum backend_step command_over(struct command *command, omprma_status_t status)
{
    command->job.status = status;
    return BACKEND_OVER;
}

omprma_status_t command_memory(struct command *command, uint64_t bytes, const char *purpose)
{
    struct stream *stream = command->stream;

    command->memory = bounce_take(stream->session, stream->device, bytes);
    return command->memory
               ? OMPRMA_OK
               : error_set(OMPRMA_ERR_DEVICE_MEMORY, "the worker has no memory %s", purpose);
}

omprma_status_t command_touch(struct worker_device *device, const char *what, uint64_t address,
                              uint64_t bytes, bool write, void **at)
{
    uint64_t bad = 0;

    *at = device->backend->touch(device, address, bytes, write, &bad);
    return *at ? OMPRMA_OK : worker_device_refuse_range(what, address, bytes, bad);
}

/* ---- order ---- */

static enum backend_step begin_fence(struct stream *stream, struct command *command)
{
    (void)stream;
    return command_over(command, OMPRMA_OK);
}

static void end_fence(struct stream *stream, struct command *command)
{
    (void)stream;
    command->job.value = (uint64_t)clock_ns();
}

/* A lost device's queues stay failed. */
static enum backend_step begin_reset(struct stream *stream, struct command *command)
{
    if (stream->failed != OMPRMA_OK && !stream->device->lost)
        stream_reset(stream, command->record.op);
    return command_over(command, OMPRMA_OK);
}

/* The stream that a wait is for; NULL: nothing was ever heard of it. */
static const struct stream *awaited(const struct stream *stream, const struct wire_record *record)
{
    return stream_find(stream->session, (uint32_t)(record->word[0] >> 32),
                       (uint32_t)record->word[0]);
}

static bool wait_ready(const struct stream *stream, const struct wire_record *record)
{
    const struct stream *other = awaited(stream, record);
    uint32_t op = (uint32_t)record->word[1];

    return !other || (int32_t)(other->done_op - op) >= 0 ||
           stream_failure_of(other, op) != OMPRMA_OK;
}

static enum backend_step begin_wait(struct stream *stream, struct command *command)
{
    const struct stream *other = awaited(stream, &command->record);
    omprma_status_t status;

    if (!other)
        return command_over(
            command, error_set(OMPRMA_ERR_PROTOCOL, "wait for a queue that the worker never saw"));
    status = stream_failure_of(other, (uint32_t)command->record.word[1]);
    if (status != OMPRMA_OK)
        error_set(status, "%s", other->failed_text ? other->failed_text : "");
    return command_over(command, status);
}

/* ---- the table ---- */

static enum backend_step begin_misplaced(struct stream *stream, struct command *command)
{
    if (stream->device)
        return command_over(command,
                            error_set(OMPRMA_ERR_PROTOCOL, "a command that no device runs"));
    server_break(stream->session->server, OMPRMA_ERR_PROTOCOL,
                 "a command that needs a device names none");
    return command_over(command, OMPRMA_OK);
}

enum {
    DATA = COMMAND_QUEUES | COMMAND_SPANS,
    KERNEL = COMMAND_QUEUES | COMMAND_SPANS | COMMAND_LAUNCHES | COMMAND_PRINTS,
    TRANSFER = COMMAND_TRANSFERS | COMMAND_ALWAYS,
    DEVICE = COMMAND_FAILS_BY_ITSELF
};

/* flags, begin, end, ready, alone */
static const struct command_kind kinds[WIRE_COMMAND_END] = {
    [WIRE_WRITE] = {COMMAND_QUEUES, command_begin_write, NULL, NULL, NULL},
    [WIRE_READ] = {COMMAND_QUEUES | COMMAND_BRINGS, command_begin_read, NULL, NULL, NULL},
    [WIRE_LAUNCH] = {KERNEL, command_begin_launch, NULL, NULL, NULL},
    [WIRE_RECV] = {TRANSFER, command_begin_transfer, NULL, command_transfer_ready, NULL},
    [WIRE_SEND] = {TRANSFER, command_begin_transfer, NULL, command_transfer_ready, NULL},
    [WIRE_PUT] = {TRANSFER, command_begin_transfer, NULL, command_transfer_ready, NULL},
    [WIRE_GET] = {TRANSFER, command_begin_transfer, NULL, command_transfer_ready, NULL},
    [WIRE_COPY] = {DATA, command_begin_copy, NULL, command_copy_ready, command_copy_alone},
    [WIRE_FENCE] = {COMMAND_QUEUES, begin_fence, end_fence, NULL, NULL},
    [WIRE_WAIT] = {COMMAND_QUEUES, begin_wait, NULL, wait_ready, NULL},
    [WIRE_RESET] = {COMMAND_ALWAYS, begin_reset, NULL, NULL, NULL},
    [WIRE_GROW] = {DEVICE, command_begin_grow, command_end_grow, NULL, NULL},
    [WIRE_RELEASE] = {DEVICE, command_begin_release, NULL, NULL, NULL},
    [WIRE_LOAD] = {DEVICE | COMMAND_PRINTS, command_begin_load, command_end_load, NULL, NULL},
    [WIRE_AWAKE] = {COMMAND_OWN, command_begin_awake, NULL, NULL, NULL},
    [WIRE_BENCH] = {DEVICE, command_begin_bench, NULL, NULL, NULL},
    [WIRE_EXIT] = {COMMAND_OWN, command_begin_exit, NULL, NULL, NULL},
    [WIRE_LOST] = {COMMAND_OWN, command_begin_lost, NULL, NULL, NULL},
    [WIRE_STORE] = {DATA, command_begin_store, NULL, NULL, NULL},
    [WIRE_FETCH] = {DATA, command_begin_fetch, NULL, NULL, NULL},
    [WIRE_FILL] = {DATA, command_begin_fill, NULL, NULL, command_fill_alone},
    [WIRE_ASK] = {DEVICE, command_begin_ask, command_end_ask, NULL, NULL},
    [WIRE_TURN] = {COMMAND_OWN, command_begin_turn, NULL, NULL, NULL},
    [WIRE_NUMBER] = {COMMAND_OWN, command_begin_number, NULL, NULL, NULL},
    [WIRE_SCATTER] = {DATA, command_begin_scatter, NULL, NULL, NULL},
    [WIRE_GATHER] = {DATA, command_begin_gather, NULL, NULL, NULL},
    [WIRE_SHARE] = {DEVICE, command_begin_share, NULL, NULL, NULL},
    [WIRE_MAP] = {COMMAND_OWN, command_begin_map, NULL, NULL, NULL},
    [WIRE_UNMAP] = {COMMAND_OWN, command_begin_unmap, NULL, NULL, NULL},
    [WIRE_BELL] = {COMMAND_OWN, command_begin_bell, NULL, NULL, NULL},
    [WIRE_REGION] = {KERNEL | COMMAND_BRINGS, command_begin_region, command_end_region, NULL, NULL},
};

static const struct command_kind misplaced = {.begin = begin_misplaced};

const struct command_kind *command_kind_of(const struct stream *stream, unsigned code)
{
    const struct command_kind *kind = &kinds[code];

    return !(kind->flags & COMMAND_OWN) == (stream->device != NULL) ? kind : &misplaced;
}
