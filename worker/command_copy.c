/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * command_copy.c: commands that move data into, out of and between devices of this worker: write,
 * read, store, fetch, fill, copy. Long copies and fills go piece by piece, each a job of its own. A
 * copy between devices of two kinds is made by the one whose memory cannot be touched, or, where
 * that goes for both, by one after the other, through memory of this process.
 */
#include "worker/command.h"

#include "base/error.h"
#include "worker/worker.h"

static uint64_t address_of(const void *memory)
{
    return (uint64_t)(uintptr_t)memory;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static enum backend_step begin_job(struct worker_device *device, struct command *command,
                                   const struct backend_copy *copy)
{
    command->job.device = device;
    return device->backend->copy(device, &command->job, copy);
}

/* ---- with the program ---- */

enum backend_step command_begin_write(struct stream *stream, struct command *command)
{
    const struct wire_record *record = &command->record;
    const struct backend_copy copy = {
        .what = "submit",
        .to_device = stream->device,
        .to = record->word[0],
        .from = address_of(record->tail),
        .bytes = record->tail_bytes,
    };

    return begin_job(stream->device, command, &copy);
}

static omprma_status_t read_touched(struct command *command, uint64_t from, uint64_t bytes)
{
    void *at;
    omprma_status_t status =
        command_touch(command->stream->device, "retrieve", from, bytes, false, &at);

    command->data = at;
    return status;
}

/* Memory that can be touched is copied once, into the answer. */
enum backend_step command_begin_read(struct stream *stream, struct command *command)
{
    const uint64_t from = command->record.word[0], bytes = command->record.word[1];
    struct backend_copy copy = {
        .what = "retrieve", .from_device = stream->device, .from = from, .bytes = bytes};
    omprma_status_t status;

    if (bytes > COMMAND_DATA_MOST)
        return command_over(command,
                            error_set(OMPRMA_ERR_PROTOCOL, "a read is larger than a message"));
    command->data_bytes = (uint32_t)bytes;
    command->job.value = bytes;
    if (worker_device_is_touchable(stream->device))
        return command_over(command, read_touched(command, from, bytes));
    status = command_memory(command, bytes, "for a copy");
    if (status != OMPRMA_OK)
        return command_over(command, status);
    command->data = command->memory;
    copy.to = address_of(command->memory);
    return begin_job(stream->device, command, &copy);
}

/* ---- with staging memory ---- */

static enum backend_step begin_staged(struct stream *stream, struct command *command, bool store)
{
    const uint64_t *word = command->record.word;
    struct worker_device *device = stream->device;
    const struct backend_copy copy = {
        .what = store ? "submit" : "retrieve",
        .to_device = store ? device : NULL,
        .from_device = store ? NULL : device,
        .to = word[store ? 0 : 1],
        .from = word[store ? 1 : 0],
        .bytes = word[2],
    };

    if (worker_device_staging(device, word[1], word[2]))
        return begin_job(device, command, &copy);
    return command_over(
        command, error_set(OMPRMA_ERR_PROTOCOL, "a copy names no staging memory of the device"));
}

enum backend_step command_begin_store(struct stream *stream, struct command *command)
{
    return begin_staged(stream, command, true);
}

enum backend_step command_begin_fetch(struct stream *stream, struct command *command)
{
    return begin_staged(stream, command, false);
}

/* ---- fills ---- */

static bool is_sound(const struct wire_record *record)
{
    uint64_t bytes = record->word[2];

    return bytes > 0 && bytes <= 8 && !(bytes & (bytes - 1)) && record->word[0] % bytes == 0 &&
           record->word[3] <= UINT64_MAX / 8;
}

bool command_fill_alone(const struct stream *stream, const struct wire_record *record)
{
    (void)stream;
    return is_sound(record) && record->word[3] > COMMAND_PIECE / record->word[2];
}

enum backend_step command_begin_fill(struct stream *stream, struct command *command)
{
    const struct wire_record *record = &command->record;
    uint64_t bytes = record->word[2], count = record->word[3];
    struct backend_fill fill = {.pattern = record->word[1], .pattern_bytes = (uint32_t)bytes};

    if (!is_sound(record))
        return command_over(
            command, error_set(OMPRMA_ERR_PROTOCOL, "a fill with something that is no pattern"));
    fill.to = record->word[0] + command->done * bytes;
    fill.count = least(count - command->done, COMMAND_PIECE / bytes);
    command->done += fill.count;
    command->more = command->done < count;
    return stream->device->backend->fill(stream->device, &command->job, &fill);
}

/* ---- between devices of this worker ---- */

/* The device that a copy is to; NULL: the worker does not have it. */
static struct worker_device *target(const struct stream *stream, const struct wire_record *record)
{
    struct server *server = stream->session->server;

    return record->word[3] < (uint64_t)server->device_count ? &server->devices[record->word[3]]
                                                            : NULL;
}

static struct backend_copy copy_of(const struct stream *stream, const struct wire_record *record)
{
    return (struct backend_copy){
        .what = "exchange",
        .to_device = target(stream, record),
        .from_device = stream->device,
        .to = record->word[0],
        .from = record->word[1],
        .bytes = record->word[2],
    };
}

bool command_copy_ready(const struct stream *stream, const struct wire_record *record)
{
    const struct worker_device *to = target(stream, record);

    return !to || !command_others_write(stream, to);
}

bool command_copy_alone(const struct stream *stream, const struct wire_record *record)
{
    const struct backend_copy copy = copy_of(stream, record);

    return copy.to_device && (copy.to_device->backend != stream->device->backend ||
                              copy.bytes > COMMAND_PIECE || backend_copy_overlaps(&copy));
}

/* Where memory of a device is to be found by others; 0 if they cannot touch it. */
static omprma_status_t touch_end(struct worker_device *device, uint64_t address, uint64_t bytes,
                                 bool write, uint64_t *found)
{
    void *at = NULL;
    omprma_status_t status = OMPRMA_OK;

    if (worker_device_is_touchable(device))
        status = command_touch(device, "exchange", address, bytes, write, &at);
    *found = address_of(at);
    return status;
}

/* Out of one device, or, when that is done, into the other; neither can be touched. */
static enum backend_step begin_bounced(struct command *command, struct backend_copy *piece)
{
    struct worker_device *device = command->bounced ? piece->to_device : piece->from_device;
    omprma_status_t status =
        command->memory ? OMPRMA_OK : command_memory(command, piece->bytes, "for a copy");

    if (status != OMPRMA_OK)
        return command_over(command, status);
    if (command->bounced) {
        piece->from_device = NULL;
        piece->from = address_of(command->memory);
    } else {
        piece->to_device = NULL;
        piece->to = address_of(command->memory);
        command->done -= piece->bytes;
        command->more = true;
    }
    command->bounced = !command->bounced;
    return begin_job(device, command, piece);
}

static enum backend_step begin_between_kinds(struct command *command, struct backend_copy *piece)
{
    uint64_t to, from;
    omprma_status_t status = touch_end(piece->to_device, piece->to, piece->bytes, true, &to);

    if (status == OMPRMA_OK)
        status = touch_end(piece->from_device, piece->from, piece->bytes, false, &from);
    if (status != OMPRMA_OK)
        return command_over(command, status);
    if (from) {
        piece->from_device = NULL;
        piece->from = from;
        return begin_job(piece->to_device, command, piece);
    }
    if (!to)
        return begin_bounced(command, piece);
    piece->to_device = NULL;
    piece->to = to;
    return begin_job(piece->from_device, command, piece);
}

/* The next piece; ranges that overlap go at once. */
static struct backend_copy next_piece(struct command *command, struct backend_copy copy)
{
    uint64_t left = copy.bytes - command->done;

    if (!backend_copy_overlaps(&copy)) {
        copy.to += command->done;
        copy.from += command->done;
        copy.bytes = least(left, COMMAND_PIECE);
    }
    command->done += copy.bytes;
    command->more = copy.bytes < left;
    return copy;
}

enum backend_step command_begin_copy(struct stream *stream, struct command *command)
{
    struct backend_copy copy = copy_of(stream, &command->record);
    struct worker_device *to = copy.to_device;

    if (!to)
        return command_over(command, error_set(OMPRMA_ERR_PROTOCOL,
                                               "a copy to a device that the worker does not have"));
    if (to->lost) {
        error_set(OMPRMA_ERR_DEVICE_LOST, "%s", to->backend->fault(to));
        return command_over(command, error_note_code(OMPRMA_ERR_DEVICE_LOST, to->fault_code));
    }
    copy = next_piece(command, copy);
    return to->backend == stream->device->backend ? begin_job(stream->device, command, &copy)
                                                  : begin_between_kinds(command, &copy);
}
