/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * command_device.c: commands about the device, on the program's control queue: arenas, images and
 * questions. They fail by themselves and do not mark the queue. An image comes out of an arena:
 * where the device cannot be touched, it and the names behind it are copied here first.
 */
#include "worker/command.h"

#include <string.h>

#include "base/error.h"
#include "worker/map.h"

/* ---- arenas ---- */

enum backend_step command_begin_grow(struct stream *stream, struct command *command)
{
    struct worker_device *device = stream->device;
    const uint64_t *word = command->record.word;
    omprma_status_t status = command_memory(command, sizeof(struct shm_address), "for an answer");

    if (status != OMPRMA_OK)
        return command_over(command, status);
    if (word[3] > 0)
        map_nothing(word[2], word[3]);
    return device->backend->grow(device, &command->job, word[0], word[1]);
}

void command_end_grow(struct stream *stream, struct command *command)
{
    struct shm_address *file = command->memory;

    command->job.status = session_note_arena(stream->session, stream->device, command->job.value,
                                             command->record.word[0]);
    *file = worker_device_file(stream->device, command->job.value);
    command->data = file;
    command->data_bytes = file->pid ? sizeof(*file) : 0;
}

enum backend_step command_begin_release(struct stream *stream, struct command *command)
{
    struct worker_device *device = stream->device;
    uint64_t base = command->record.word[0];
    omprma_status_t status = session_forget_arena(stream->session, device, base);

    return status == OMPRMA_OK ? device->backend->release(device, &command->job, base)
                               : command_over(command, status);
}

/* ---- images ---- */

enum { RANGE_IMAGE, RANGE_NAMES, RANGES };

/* A load that is under way: the command's memory, with copies of image and names behind it where
 * the device cannot be touched. */
struct loading {
    struct backend_load load;
    const char *at[RANGES]; /* where image and names can be read */
    char *copies;           /* room for the next copy */
    struct backend_symbol *symbols;
    uint64_t addresses[];
};

/* The words of the record. */
struct load_words {
    struct range {
        uint64_t address, bytes;
    } range[RANGES];
    uint32_t count;
    int ranges; /* modules come without names */
};

static struct load_words words_of(const struct wire_record *record)
{
    return (struct load_words){
        .range = {[RANGE_IMAGE] = {record->word[0], record->word[1]},
                  [RANGE_NAMES] = {record->word[2], (uint32_t)record->word[3]}},
        .count = (uint32_t)(record->word[3] >> 32),
        .ranges = record->flags & WIRE_MODULE ? RANGE_NAMES : RANGES,
    };
}

/* Finds the symbols whose sizes and names lie at `at`: 8 bytes of size, the name, a zero byte,
 * padded to 8, one after the other. */
static omprma_status_t find_names(struct backend_symbol *symbols, uint32_t count, const char *at,
                                  const char *end)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t length;

        if (end - at < 16)
            return error_set(OMPRMA_ERR_PROTOCOL, "the list of symbols ends early");
        memcpy(&symbols[i].bytes, at, sizeof(symbols[i].bytes));
        at += sizeof(symbols[i].bytes);
        length = strnlen(at, (size_t)(end - at));
        if (at + length == end)
            return error_set(OMPRMA_ERR_PROTOCOL, "a symbol's name has no end");
        symbols[i].name = at;
        at += (length + 8) & ~(size_t)7;
        if (at > end)
            at = end;
    }
    return OMPRMA_OK;
}

static omprma_status_t check_words(const struct stream *stream, const struct load_words *words)
{
    if (words->count * sizeof(uint64_t) > COMMAND_DATA_MOST)
        return error_set(OMPRMA_ERR_PROTOCOL, "%u symbols at once are too many", words->count);
    for (int i = 0; i < words->ranges; i++)
        if (!session_holds(stream->session, stream->device, words->range[i].address,
                           words->range[i].bytes))
            return error_set(OMPRMA_ERR_PROTOCOL, "the image does not lie in device memory");
    return OMPRMA_OK;
}

/* Memory for all of it in one. */
static omprma_status_t loading_make(struct command *command, const struct load_words *words)
{
    bool copies = !worker_device_is_touchable(command->stream->device);
    uint64_t addresses = words->count * sizeof(uint64_t);
    uint64_t symbols = words->count * sizeof(struct backend_symbol);
    uint64_t bytes = sizeof(struct loading) + addresses + symbols;
    struct loading *loading;
    omprma_status_t status;

    for (int i = 0; copies && i < words->ranges; i++)
        bytes += words->range[i].bytes;
    status = command_memory(command, bytes, "to load an image");
    if (status != OMPRMA_OK)
        return status;
    loading = command->memory;
    memset(loading, 0, sizeof(*loading) + addresses);
    loading->symbols = (struct backend_symbol *)(loading->addresses + words->count);
    loading->copies = (char *)(loading->symbols + words->count);
    return OMPRMA_OK;
}

static omprma_status_t touch_ranges(struct stream *stream, struct loading *loading,
                                    const struct load_words *words)
{
    omprma_status_t status = OMPRMA_OK;
    void *at;

    for (int i = 0; i < words->ranges && status == OMPRMA_OK; i++) {
        status = command_touch(stream->device, "load", words->range[i].address,
                               words->range[i].bytes, false, &at);
        loading->at[i] = at;
    }
    return status;
}

static enum backend_step copy_range(struct stream *stream, struct command *command,
                                    const struct range *range)
{
    struct worker_device *device = stream->device;
    struct loading *loading = command->memory;
    const struct backend_copy copy = {
        .what = "load",
        .from_device = device,
        .from = range->address,
        .to = (uint64_t)(uintptr_t)loading->copies,
        .bytes = range->bytes,
    };

    loading->at[command->done++] = loading->copies;
    loading->copies += range->bytes;
    command->more = true;
    return device->backend->copy(device, &command->job, &copy);
}

static enum backend_step load_image(struct stream *stream, struct command *command,
                                    const struct load_words *words)
{
    struct worker_device *device = stream->device;
    struct loading *loading = command->memory;
    const char *names = loading->at[RANGE_NAMES];
    omprma_status_t status = OMPRMA_OK;

    if (names)
        status = find_names(loading->symbols, words->count, names,
                            names + words->range[RANGE_NAMES].bytes);
    if (status != OMPRMA_OK)
        return command_over(command, status);
    loading->load = (struct backend_load){
        .image = loading->at[RANGE_IMAGE],
        .bytes = words->range[RANGE_IMAGE].bytes,
        .own = words->ranges == RANGE_NAMES,
        .count = names ? words->count : 0,
        .symbols = loading->symbols,
        .addresses = loading->addresses,
    };
    return device->backend->load(device, &command->job, &loading->load);
}

/* Jobs: a copy of the image, one of the names if there are any, then the load itself. */
enum backend_step command_begin_load(struct stream *stream, struct command *command)
{
    const struct load_words words = words_of(&command->record);
    omprma_status_t status = OMPRMA_OK;

    if (!command->memory)
        status = check_words(stream, &words);
    if (status == OMPRMA_OK && !command->memory)
        status = loading_make(command, &words);
    if (status == OMPRMA_OK && worker_device_is_touchable(stream->device))
        status = touch_ranges(stream, command->memory, &words);
    else if (status == OMPRMA_OK && command->done < (uint64_t)words.ranges)
        return copy_range(stream, command, &words.range[command->done]);
    return status == OMPRMA_OK ? load_image(stream, command, &words)
                               : command_over(command, status);
}

/* A module is the job's value already. */
void command_end_load(struct stream *stream, struct command *command)
{
    const struct loading *loading = command->memory;

    (void)stream;
    if (loading->load.own)
        return;
    command->job.value = loading->load.count;
    command->data = loading->addresses;
    command->data_bytes = (uint32_t)(loading->load.count * sizeof(uint64_t));
}

/* ---- questions ---- */

enum backend_step command_begin_ask(struct stream *stream, struct command *command)
{
    struct worker_device *device = stream->device;
    const struct wire_record *record = &command->record;
    omprma_status_t status = OMPRMA_OK;
    struct backend_ask *ask;

    if (!device->backend->ask)
        status = error_set(OMPRMA_ERR_UNSUPPORTED, "%s devices answer no questions",
                           device->backend->name);
    if (status == OMPRMA_OK)
        status = command_memory(command, sizeof(*ask) + OMPRMA_QUESTION, "for an answer");
    if (status != OMPRMA_OK)
        return command_over(command, status);
    ask = command->memory;
    *ask = (struct backend_ask){
        .what = (uint32_t)record->word[0],
        .question = record->tail,
        .bytes = record->tail_bytes,
        .answer = ask + 1,
        .room = OMPRMA_QUESTION,
    };
    return device->backend->ask(device, &command->job, ask);
}

void command_end_ask(struct stream *stream, struct command *command)
{
    const struct backend_ask *ask = command->memory;

    (void)stream;
    command->job.value = ask->answered;
    command->data = ask->answer;
    command->data_bytes = (uint32_t)ask->answered;
}
