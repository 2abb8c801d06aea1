/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * command_runs.c: scatter and gather. Runs of a device's memory, as a shape has them, are on one
 * side, and the same runs packed on the other: in a block of the device, in memory that the program
 * shares, or, of a scatter, in the record. Only devices that can be touched are told to. All that
 * lies between the first run and the last is looked at at once, if that is hardly more than the
 * pages of the runs; else, and where some of it is no memory, each run is.
 */
#include "worker/command.h"

#include <string.h>

#include "base/error.h"
#include "worker/worker.h"

enum { PAGE = 4096, SHARE_MOST = 64 << 20 };

/* The packed side, and the other one, from its first run of all on. */
struct sides {
    void *packed, *at;
};

static omprma_status_t touch_each(struct worker_device *device, const char *what,
                                  const struct wire_runs *runs, bool write)
{
    omprma_status_t status = OMPRMA_OK;
    void *at;

    for (uint64_t i = 0; i < runs->runs && status == OMPRMA_OK; i++)
        status = command_touch(device, what, runs->at + shape_at(&runs->shape, runs->first + i),
                               runs->shape.bytes, write, &at);
    return status;
}

static omprma_status_t touch_runs(struct worker_device *device, const char *what,
                                  const struct wire_runs *runs, bool write, void **at)
{
    uint64_t reach = shape_reach(&runs->shape), bad;

    *at = NULL;
    if (reach / shape_runs(&runs->shape) <= runs->shape.bytes + PAGE)
        *at = device->backend->touch(device, runs->at, reach, write, &bad);
    if (*at)
        return OMPRMA_OK;
    *at = (void *)(uintptr_t)runs->at;
    return touch_each(device, what, runs, write);
}

static omprma_status_t touch_packed(struct worker_device *device, const char *what,
                                    const struct wire_runs *runs, bool write, void **packed)
{
    uint64_t bytes = runs->runs * runs->shape.bytes;

    *packed = runs->data ? (void *)runs->data : worker_device_shared(device, runs->packed, bytes);
    return *packed ? OMPRMA_OK : command_touch(device, what, runs->packed, bytes, write, packed);
}

static omprma_status_t open_runs(struct stream *stream, const struct command *command,
                                 struct wire_runs *runs, struct sides *sides)
{
    struct worker_device *device = stream->device;
    bool scatter = command->record.code == WIRE_SCATTER;
    const char *what = scatter ? "submit" : "retrieve";
    omprma_status_t status = wire_open_runs(&command->record, runs);

    if (status == OMPRMA_OK && !worker_device_is_touchable(device))
        status = error_set(OMPRMA_ERR_PROTOCOL, "runs of a device that cannot be touched");
    if (status == OMPRMA_OK)
        status = touch_packed(device, what, runs, !scatter, &sides->packed);
    if (status == OMPRMA_OK)
        status = touch_runs(device, what, runs, scatter, &sides->at);
    return status;
}

enum backend_step command_begin_scatter(struct stream *stream, struct command *command)
{
    struct wire_runs runs;
    struct sides sides;
    omprma_status_t status = open_runs(stream, command, &runs, &sides);

    if (status == OMPRMA_OK)
        shape_unpack(&runs.shape, sides.at, runs.first, runs.runs, sides.packed);
    return command_over(command, status);
}

enum backend_step command_begin_gather(struct stream *stream, struct command *command)
{
    struct wire_runs runs;
    struct sides sides;
    omprma_status_t status = open_runs(stream, command, &runs, &sides);

    if (status == OMPRMA_OK)
        shape_pack(&runs.shape, sides.at, runs.first, runs.runs, sides.packed);
    return command_over(command, status);
}

enum backend_step command_begin_share(struct stream *stream, struct command *command)
{
    const struct wire_record *record = &command->record;
    struct shm_address address;
    omprma_status_t status;

    if (record->tail_bytes != sizeof(address) || record->word[0] == 0 ||
        record->word[0] > SHARE_MOST)
        return command_over(
            command, error_set(OMPRMA_ERR_PROTOCOL, "memory to share that is none, or too much"));
    memcpy(&address, record->tail, sizeof(address));
    status = worker_device_share(stream->device, &address, record->word[0], &command->job.value);
    return command_over(command, status);
}
