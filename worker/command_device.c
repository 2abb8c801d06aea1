/*
 * command_device.c: commands about the device, on the application's control queue: arenas, images
 * and questions. They fail by themselves and do not mark the queue. See command.h.
 */
#include "worker/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "worker/output.h"

static void answer(const struct stream *stream, const struct wire_record *record,
                   omprma_status_t status, uint64_t value, const void *tail, uint32_t bytes)
{
    if (status == OMPRMA_OK)
        command_finish(stream, record, value, tail, bytes);
    else
        command_refuse(stream, record, status, error_text());
}

/* ---- arenas ---- */

enum command_step command_grow(struct stream *stream, const struct wire_record *record)
{
    struct worker_device *device = stream->device;
    uint64_t bytes = record->word[0];
    enum command_step step =
        stream->begun
            ? command_awaits(stream)
            : command_started(stream, device->backend->grow(device, command_job(stream), bytes));
    omprma_status_t status = stream->job.status;

    if (step != COMMAND_DONE)
        return step;
    if (status == OMPRMA_OK)
        status = session_note_arena(stream->session, device, stream->job.value, bytes);
    answer(stream, record, status, stream->job.value, NULL, 0);
    return COMMAND_DONE;
}

enum command_step command_release(struct stream *stream, const struct wire_record *record)
{
    struct worker_device *device = stream->device;
    uint64_t base = record->word[0];
    enum command_step step;

    if (stream->begun) {
        step = command_awaits(stream);
    } else {
        omprma_status_t status = session_forget_arena(stream->session, device, base);

        if (status != OMPRMA_OK) {
            answer(stream, record, status, 0, NULL, 0);
            return COMMAND_DONE;
        }
        step = command_started(stream, device->backend->release(device, command_job(stream), base));
    }
    if (step == COMMAND_DONE)
        answer(stream, record, stream->job.status, 0, NULL, 0);
    return step;
}

/* ---- images ---- */

enum { RANGE_IMAGE, RANGE_NAMES, RANGES };

/* A load that is under way: the stream's stage. */
struct loading {
    struct backend_load load;
    const char *at[RANGES]; /* where image and names can be read */
    char *copies[RANGES];   /* of them, where the device cannot be touched */
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

static void loading_free(struct stream *stream)
{
    struct loading *loading = stream->stage;

    if (!loading)
        return;
    for (int i = 0; i < RANGES; i++)
        free(loading->copies[i]);
    free(loading->symbols);
    free(loading);
    stream->stage = NULL;
}

static omprma_status_t loading_make(struct stream *stream, const struct load_words *words)
{
    struct loading *loading =
        calloc(1, sizeof(*loading) + words->count * sizeof(loading->addresses[0]));

    stream->stage = loading;
    stream->phase = RANGE_IMAGE;
    if (loading)
        loading->symbols = calloc(words->count + 1, sizeof(*loading->symbols));
    if (loading && loading->symbols)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_DEVICE_MEMORY, "the worker has no memory to load an image");
}

/* Makes a range readable. */
static enum command_step reach(struct stream *stream, const struct range *range)
{
    struct worker_device *device = stream->device;
    struct backend_job *job = command_job(stream);
    struct loading *loading = stream->stage;
    char *copy_at = NULL;
    struct backend_copy copy = {
        .what = "load",
        .from_device = device,
        .from = range->address,
        .bytes = range->bytes,
    };
    uint64_t bad = 0;

    if (worker_device_is_touchable(device)) {
        loading->at[stream->phase] =
            device->backend->touch(device, range->address, range->bytes, false, &bad);
        if (!loading->at[stream->phase])
            job->status = worker_device_refuse_range("load", range->address, range->bytes, bad);
        return COMMAND_DONE;
    }
    loading->at[stream->phase] = loading->copies[stream->phase] = copy_at = malloc(range->bytes);
    if (!copy_at) {
        job->status =
            error_set(OMPRMA_ERR_DEVICE_MEMORY, "the worker has no memory to load an image");
        return COMMAND_DONE;
    }
    copy.to = (uint64_t)(uintptr_t)copy_at;
    return command_started(stream, device->backend->copy(device, job, &copy));
}

static enum command_step load_image(struct stream *stream, const struct load_words *words)
{
    struct worker_device *device = stream->device;
    struct backend_job *job = command_job(stream);
    struct loading *loading = stream->stage;
    const char *names = loading->at[RANGE_NAMES];

    if (names)
        job->status = find_names(loading->symbols, words->count, names,
                                 names + words->range[RANGE_NAMES].bytes);
    if (job->status != OMPRMA_OK)
        return COMMAND_DONE;
    loading->load = (struct backend_load){
        .image = loading->at[RANGE_IMAGE],
        .bytes = words->range[RANGE_IMAGE].bytes,
        .own = words->ranges == RANGE_NAMES,
        .count = names ? words->count : 0,
        .symbols = loading->symbols,
        .addresses = loading->addresses,
    };
    return command_started(stream, device->backend->load(device, job, &loading->load));
}

/* Phases: image, names if there are any, then the load itself. */
static enum command_step load_step(struct stream *stream, const struct load_words *words)
{
    enum command_step step = COMMAND_DONE;

    if (stream->begun) {
        step = command_awaits(stream);
        stream->phase += step == COMMAND_DONE;
    } else {
        command_job(stream);
    }
    while (step == COMMAND_DONE && stream->job.status == OMPRMA_OK &&
           stream->phase <= words->ranges) {
        step = stream->phase < words->ranges ? reach(stream, &words->range[stream->phase])
                                             : load_image(stream, words);
        stream->phase += step == COMMAND_DONE;
    }
    return step;
}

enum command_step command_load(struct stream *stream, const struct wire_record *record)
{
    const struct load_words words = words_of(record);
    omprma_status_t status = stream->begun ? OMPRMA_OK : check_words(stream, &words);
    const struct loading *loading;
    enum command_step step;

    if (status == OMPRMA_OK && !stream->begun)
        status = loading_make(stream, &words);
    if (status == OMPRMA_OK) {
        step = load_step(stream, &words);
        if (step != COMMAND_DONE)
            return step;
        status = stream->job.status;
    }
    loading = stream->stage;
    reply_output(stream->session); /* constructors of the image may print */
    if (words.ranges == RANGES)
        answer(stream, record, status, words.count, loading ? loading->addresses : NULL,
               (uint32_t)(words.count * sizeof(uint64_t)));
    else
        answer(stream, record, status, stream->job.value, NULL, 0);
    loading_free(stream);
    return COMMAND_DONE;
}

/* ---- questions ---- */

static omprma_status_t begin_ask(struct stream *stream, const struct wire_record *record)
{
    struct backend_ask *ask;

    if (!stream->device->backend->ask)
        return error_set(OMPRMA_ERR_UNSUPPORTED, "%s devices answer no questions",
                         stream->device->backend->name);
    ask = stream->stage = malloc(sizeof(*ask) + OMPRMA_QUESTION);
    if (!ask)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "the worker has no memory for an answer");
    *ask = (struct backend_ask){
        .what = (uint32_t)record->word[0],
        .question = record->tail,
        .bytes = record->tail_bytes,
        .answer = ask + 1,
        .room = OMPRMA_QUESTION,
    };
    return OMPRMA_OK;
}

enum command_step command_ask(struct stream *stream, const struct wire_record *record)
{
    struct worker_device *device = stream->device;
    struct backend_ask *ask;
    enum command_step step;
    omprma_status_t status;

    if (stream->begun) {
        step = command_awaits(stream);
    } else {
        status = begin_ask(stream, record);
        if (status != OMPRMA_OK) {
            answer(stream, record, status, 0, NULL, 0);
            return COMMAND_DONE;
        }
        step = command_started(stream,
                               device->backend->ask(device, command_job(stream), stream->stage));
    }
    if (step != COMMAND_DONE)
        return step;
    ask = stream->stage;
    answer(stream, record, stream->job.status, ask->answered, ask->answer, (uint32_t)ask->answered);
    free(ask);
    stream->stage = NULL;
    return COMMAND_DONE;
}
