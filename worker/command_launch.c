/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * command_launch.c: commands that run kernels: launch, region. A region on memory that can be
 * touched is written here, before the launch, and read into its answer, when its kernel has ended;
 * elsewhere the backend makes one job of the three.
 */
#include "worker/command.h"

#include <string.h>

#include "base/error.h"

static enum backend_step launch_begin(struct stream *stream, struct command *command,
                                      const struct wire_record *record)
{
    struct worker_device *device = stream->device;
    omprma_status_t status = wire_open_launch(record, &command->launch.with);

    command->launch.kernel = record->word[0];
    return status == OMPRMA_OK ? device->backend->launch(device, &command->job, &command->launch)
                               : command_over(command, status);
}

enum backend_step command_begin_launch(struct stream *stream, struct command *command)
{
    return launch_begin(stream, command, &command->record);
}

static enum backend_step launch_begin_touched(struct stream *stream, struct command *command,
                                              const struct wire_region *region)
{
    void *to;
    omprma_status_t status = OMPRMA_OK;

    if (region->bytes)
        status = command_touch(stream->device, "submit", region->to, region->bytes, true, &to);
    if (status != OMPRMA_OK)
        return command_over(command, status);
    if (region->bytes)
        memcpy(to, region->data, region->bytes);
    return launch_begin(stream, command, &region->launch);
}

static enum backend_step launch_begin_as_one(struct stream *stream, struct command *command,
                                             const struct wire_region *region)
{
    struct worker_device *device = stream->device;
    struct backend_copy write = {
        .what = "submit",
        .to_device = device,
        .to = region->to,
        .from = (uint64_t)(uintptr_t)region->data,
        .bytes = region->bytes,
    };
    struct backend_copy read = {
        .what = "retrieve",
        .from_device = device,
        .from = region->from,
        .bytes = region->back_bytes,
    };
    omprma_status_t status = wire_open_launch(&region->launch, &command->launch.with);

    if (status == OMPRMA_OK && read.bytes)
        status = command_memory(command, read.bytes, "for a copy");
    if (status != OMPRMA_OK)
        return command_over(command, status);
    command->launch.kernel = region->launch.word[0];
    command->data = command->memory;
    read.to = (uint64_t)(uintptr_t)command->memory;
    return device->backend->region(device, &command->job, write.bytes ? &write : NULL,
                                   &command->launch, read.bytes ? &read : NULL);
}

enum backend_step command_begin_region(struct stream *stream, struct command *command)
{
    bool touchable = worker_device_is_touchable(stream->device);
    struct wire_region region;
    omprma_status_t status = wire_open_region(&command->record, &region);

    if (status == OMPRMA_OK &&
        ((!touchable && !stream->device->backend->region) || region.back_bytes > COMMAND_DATA_MOST))
        status = error_set(OMPRMA_ERR_PROTOCOL, "a region that does not go in one command");
    if (status != OMPRMA_OK)
        return command_over(command, status);
    command->data_bytes = region.back_bytes;
    return touchable ? launch_begin_touched(stream, command, &region)
                     : launch_begin_as_one(stream, command, &region);
}

void command_end_region(struct stream *stream, struct command *command)
{
    void *from;

    command->job.value = command->data_bytes;
    if (command->data || command->data_bytes == 0)
        return;
    command->job.status = command_touch(stream->device, "retrieve", command->record.word[2],
                                        command->data_bytes, false, &from);
    command->data = from;
}
