/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wire.c: One table describes every record: its name, its words, what kind of data follows, and in
 * which direction it goes. Encoder, decoder and checks are driven by it.
 */
#include "control/wire.h"

#include <string.h>

#include "base/check.h"
#include "base/error.h"

/* Layout of the header on the wire. */
struct header_layout {
    uint16_t magic;
    uint8_t version;
    uint8_t kind; /* bit 7: the receiver should acknowledge soon */
    uint32_t bytes;
    uint32_t serial;
    uint32_t ack;
};

/* Layout of the fixed part of a record; words and tail follow. */
struct record_layout {
    uint8_t code;
    uint8_t flags;
    uint16_t device;
    uint32_t bytes; /* exact, before padding to 8 */
    uint32_t queue;
    uint32_t op;
};

_Static_assert(sizeof(struct header_layout) == WIRE_HEADER_BYTES, "header layout");
_Static_assert(sizeof(struct record_layout) == WIRE_RECORD_BYTES, "record layout");
_Static_assert(sizeof(struct shape) == 8 * (1 + 2 * SHAPE_RANK), "shape layout");
_Static_assert(sizeof(omprma_geometry_t) == 8 * WIRE_GEOMETRY_WORDS, "geometry layout");

enum { KIND_WANTS_ACK = 0x80 };

/* What may follow the words of a record. */
enum tail { TAIL_NONE, TAIL_BYTES, TAIL_WORDS };

struct code_layout {
    const char *name;
    int8_t words;
    uint8_t tail;
    uint8_t kind;
};

static const struct code_layout codes[] = {
    [WIRE_WRITE] = {"write", 1, TAIL_BYTES, WIRE_COMMANDS},
    [WIRE_READ] = {"read", 2, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_LAUNCH] = {"launch", 1, TAIL_WORDS, WIRE_COMMANDS},
    [WIRE_RECV] = {"recv", 4, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_SEND] = {"send", 4, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_PUT] = {"put", 4, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_GET] = {"get", 4, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_COPY] = {"copy", 4, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_FENCE] = {"fence", 0, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_WAIT] = {"wait", 2, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_RESET] = {"reset", 0, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_GROW] = {"grow", 4, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_RELEASE] = {"release", 2, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_LOAD] = {"load", 4, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_AWAKE] = {"awake", 1, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_BENCH] = {"bench", 4, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_EXIT] = {"exit", 0, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_LOST] = {"lost", 1, TAIL_BYTES, WIRE_COMMANDS},
    [WIRE_TURN] = {"turn", 2, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_NUMBER] = {"number", 1, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_STORE] = {"store", 3, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_FETCH] = {"fetch", 3, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_FILL] = {"fill", 4, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_ASK] = {"ask", 1, TAIL_BYTES, WIRE_COMMANDS},
    [WIRE_REGION] = {"region", 4, TAIL_BYTES, WIRE_COMMANDS},
    [WIRE_SCATTER] = {"scatter", 4, TAIL_BYTES, WIRE_COMMANDS},
    [WIRE_GATHER] = {"gather", 4, TAIL_BYTES, WIRE_COMMANDS},
    [WIRE_SHARE] = {"share", 1, TAIL_BYTES, WIRE_COMMANDS},
    [WIRE_MAP] = {"map", 3, TAIL_BYTES, WIRE_COMMANDS},
    [WIRE_UNMAP] = {"unmap", 2, TAIL_NONE, WIRE_COMMANDS},
    [WIRE_BELL] = {"bell", 1, TAIL_BYTES, WIRE_COMMANDS},
    [WIRE_DONE] = {"done", 1, TAIL_BYTES, WIRE_RESULTS},
    [WIRE_FAILED] = {"failed", 4, TAIL_BYTES, WIRE_RESULTS},
    [WIRE_OUTPUT] = {"output", 1, TAIL_BYTES, WIRE_RESULTS},
    [WIRE_ALIVE] = {"alive", 1, TAIL_NONE, WIRE_RESULTS},
    [WIRE_STALLED] = {"stalled", 3, TAIL_NONE, WIRE_RESULTS},
    [WIRE_SPAN] = {"span", 2, TAIL_NONE, WIRE_RESULTS},
};

static const struct code_layout *layout_of(unsigned code)
{
    if (code >= sizeof(codes) / sizeof(codes[0]) || !codes[code].name)
        return NULL;
    return &codes[code];
}

static uint32_t padded(uint32_t bytes)
{
    return (bytes + 7u) & ~7u;
}

const char *wire_code_name(unsigned code)
{
    const struct code_layout *layout = layout_of(code);

    return layout ? layout->name : "unknown";
}

int wire_words(unsigned code)
{
    const struct code_layout *layout = layout_of(code);

    return layout ? layout->words : -1;
}

uint32_t wire_record_bytes(unsigned code, uint32_t tail_bytes)
{
    return WIRE_RECORD_BYTES + 8u * (uint32_t)wire_words(code) + padded(tail_bytes);
}

_Static_assert(WIRE_WORDS == 4, "words to be copied");

/* So few bytes that a call of memcpy() would take longer than the copy. */
static void copy_words(void *to, const void *from, uint32_t words)
{
    switch (words) {
    case 4:
        memcpy(to, from, 32);
        break;
    case 3:
        memcpy(to, from, 24);
        break;
    case 2:
        memcpy(to, from, 16);
        break;
    case 1:
        memcpy(to, from, 8);
        break;
    default:
        break;
    }
}

void wire_begin(struct wire_buffer *buffer)
{
    CHECK(buffer->capacity, >=, WIRE_HEADER_BYTES);
    buffer->used = WIRE_HEADER_BYTES;
}

void *wire_append(struct wire_buffer *buffer, const struct wire_record *record)
{
    uint32_t words = (uint32_t)wire_words(record->code);
    uint32_t needed = WIRE_RECORD_BYTES + 8 * words + padded(record->tail_bytes);
    uint8_t *at = buffer->data + buffer->used, *tail = at + WIRE_RECORD_BYTES + 8 * words;
    struct record_layout fixed = {
        .code = (uint8_t)record->code,
        .flags = (uint8_t)record->flags,
        .device = record->device,
        .bytes = WIRE_RECORD_BYTES + 8 * words + record->tail_bytes,
        .queue = record->queue,
        .op = record->op,
    };

    if (record->tail_bytes > buffer->capacity || needed > buffer->capacity - buffer->used)
        return NULL;
    memcpy(at, &fixed, sizeof(fixed));
    copy_words(at + sizeof(fixed), record->word, words);
    if (record->tail_bytes & 7u) /* padding is sent: do not send what lay there before */
        memset(tail + (record->tail_bytes & ~7u), 0, 8);
    if (record->tail && record->tail_bytes == 8)
        copy_words(tail, record->tail, 1);
    else if (record->tail && record->tail_bytes)
        memcpy(tail, record->tail, record->tail_bytes);
    buffer->used += needed;
    return tail;
}

void wire_want_reply(struct wire_buffer *buffer, uint32_t last)
{
    buffer->data[last + offsetof(struct record_layout, flags)] |= WIRE_REPLY;
}

void wire_seal(struct wire_buffer *buffer, enum wire_kind kind, uint32_t serial, uint32_t ack,
               bool wants_ack)
{
    struct header_layout header = {
        .magic = WIRE_MAGIC,
        .version = WIRE_VERSION,
        .kind = (uint8_t)(kind | (wants_ack ? KIND_WANTS_ACK : 0)),
        .bytes = buffer->used,
        .serial = serial,
        .ack = ack,
    };

    memcpy(buffer->data, &header, sizeof(header));
}

uint32_t wire_serial(const void *message, size_t bytes)
{
    struct header_layout header;

    if (bytes < sizeof(header))
        return 0;
    memcpy(&header, message, sizeof(header));
    return header.serial;
}

static omprma_status_t check_header(struct wire_reader *reader, const void *message, size_t bytes)
{
    struct header_layout header;

    if (bytes < WIRE_HEADER_BYTES)
        return error_set(OMPRMA_ERR_PROTOCOL,
                         "control message of %zu bytes is shorter than its "
                         "header of %d bytes",
                         bytes, WIRE_HEADER_BYTES);
    memcpy(&header, message, sizeof(header));
    if (header.magic != WIRE_MAGIC)
        return error_set(OMPRMA_ERR_PROTOCOL,
                         "control message starts with 0x%04x instead of "
                         "0x%04x: the sender is not omprma",
                         header.magic, WIRE_MAGIC);
    if (header.version != WIRE_VERSION)
        return error_set(OMPRMA_ERR_VERSION,
                         "control message has protocol version %u, this side "
                         "speaks %d: use one version of omprma everywhere",
                         header.version, WIRE_VERSION);
    if (header.bytes != bytes || bytes > WIRE_MESSAGE_BYTES || bytes % 8)
        return error_set(OMPRMA_ERR_PROTOCOL, "control message of %zu bytes says that it has %u",
                         bytes, header.bytes);
    reader->header = (struct wire_header){
        .kind = header.kind & (uint8_t)~KIND_WANTS_ACK,
        .bytes = header.bytes,
        .serial = header.serial,
        .ack = header.ack,
        .wants_ack = (header.kind & KIND_WANTS_ACK) != 0,
    };
    if (reader->header.kind != WIRE_COMMANDS && reader->header.kind != WIRE_RESULTS)
        return error_set(OMPRMA_ERR_PROTOCOL, "control message is of unknown kind %u",
                         reader->header.kind);
    return OMPRMA_OK;
}

/* Checks the record at `at`; *bytes is what it takes with padding. */
static omprma_status_t check_record(const struct wire_reader *reader, const uint8_t *at,
                                    uint32_t *bytes)
{
    size_t left = (size_t)(reader->end - at);
    struct record_layout fixed;
    const struct code_layout *layout;
    uint32_t fixed_bytes, tail;

    if (left < WIRE_RECORD_BYTES)
        return error_set(OMPRMA_ERR_PROTOCOL,
                         "control message ends inside a record, %zu bytes "
                         "before its end",
                         left);
    memcpy(&fixed, at, sizeof(fixed));
    layout = layout_of(fixed.code);
    if (!layout || layout->kind != reader->header.kind)
        return error_set(OMPRMA_ERR_PROTOCOL,
                         "control message holds code %u (%s), which does not "
                         "belong there",
                         fixed.code, wire_code_name(fixed.code));
    fixed_bytes = WIRE_RECORD_BYTES + 8u * (uint32_t)layout->words;
    if (fixed.bytes < fixed_bytes || fixed.bytes > left)
        return error_set(OMPRMA_ERR_PROTOCOL,
                         "record %s says %u bytes; at least %u are needed and "
                         "%zu are left",
                         layout->name, fixed.bytes, fixed_bytes, left);
    tail = fixed.bytes - fixed_bytes;
    if ((layout->tail == TAIL_NONE && tail) || (layout->tail == TAIL_WORDS && tail % 8))
        return error_set(OMPRMA_ERR_PROTOCOL, "record %s has a tail of %u bytes", layout->name,
                         tail);
    *bytes = padded(fixed.bytes);
    return OMPRMA_OK;
}

omprma_status_t wire_open(struct wire_reader *reader, const void *message, size_t bytes)
{
    omprma_status_t status = check_header(reader, message, bytes);
    struct record_layout first = {0}, fixed;
    const uint8_t *at;
    uint32_t step = 0;

    if (status != OMPRMA_OK)
        return status;
    reader->next = (const uint8_t *)message + WIRE_HEADER_BYTES;
    reader->end = (const uint8_t *)message + bytes;
    for (at = reader->next; at < reader->end; at += step) {
        status = check_record(reader, at, &step);
        if (status != OMPRMA_OK)
            return status;
        memcpy(&fixed, at, sizeof(fixed));
        if (at == reader->next)
            first = fixed;
        else if (reader->header.kind == WIRE_COMMANDS &&
                 (fixed.queue != first.queue || fixed.device != first.device))
            return error_set(
                OMPRMA_ERR_PROTOCOL,
                "commands of device %u, queue %u and device %u, queue %u in one message",
                first.device, first.queue, fixed.device, fixed.queue);
    }
    return OMPRMA_OK;
}

bool wire_next(struct wire_reader *reader, struct wire_record *record)
{
    struct record_layout fixed;
    uint32_t words;

    if (reader->next >= reader->end)
        return false;
    memcpy(&fixed, reader->next, sizeof(fixed));
    words = (uint32_t)codes[fixed.code].words;
    record->code = fixed.code;
    record->flags = fixed.flags;
    record->device = fixed.device;
    record->queue = fixed.queue;
    record->op = fixed.op;
    copy_words(record->word, reader->next + WIRE_RECORD_BYTES, words);
    record->tail = reader->next + WIRE_RECORD_BYTES + 8 * words;
    record->tail_bytes = fixed.bytes - WIRE_RECORD_BYTES - 8 * words;
    reader->next += padded(fixed.bytes);
    return true;
}

omprma_status_t wire_check_next(const struct wire_reader *reader, enum wire_kind kind,
                                uint32_t last)
{
    if (reader->header.kind != kind)
        return error_set(OMPRMA_ERR_PROTOCOL, "%s came instead of %s",
                         kind == WIRE_RESULTS ? "commands" : "results",
                         kind == WIRE_RESULTS ? "results" : "commands");
    if (reader->header.serial != last + 1)
        return error_set(OMPRMA_ERR_PROTOCOL, "control message %u came where %u was due",
                         reader->header.serial, last + 1);
    return OMPRMA_OK;
}

omprma_status_t wire_open_launch(const struct wire_record *record, struct wire_launch *launch)
{
    uint32_t words = record->tail_bytes / 8,
             skip = record->flags & WIRE_GEOMETRY ? WIRE_GEOMETRY_WORDS : 0;

    bool packed = record->flags & WIRE_PACKED, context = record->flags & WIRE_CONTEXT;
    const uint64_t *at = record->tail;

    if (packed && context)
        return error_set(OMPRMA_ERR_PROTOCOL, "a launch with parameters of two forms");
    if (words < skip + packed)
        return error_set(OMPRMA_ERR_PROTOCOL, "a launch of %u words lacks its geometry", words);
    *launch = (struct wire_launch){
        .arguments = at + skip + packed,
        .count = words - skip - packed,
        .packed = packed,
        .context = context,
    };
    if (skip)
        memcpy(&launch->geometry, at, sizeof(launch->geometry));
    if (!packed)
        return OMPRMA_OK;
    if (at[skip] > 8 * (uint64_t)launch->count)
        return error_set(OMPRMA_ERR_PROTOCOL, "a launch of %u words lacks its parameters", words);
    launch->packed_bytes = (uint32_t)at[skip];
    return OMPRMA_OK;
}

omprma_status_t wire_open_region(const struct wire_record *record, struct wire_region *region)
{
    uint32_t bytes = (uint32_t)(record->word[3] >> 32), launch = record->tail_bytes - bytes;

    if (bytes > record->tail_bytes || launch % 8)
        return error_set(OMPRMA_ERR_PROTOCOL, "a region with a tail of %u bytes writes %u",
                         record->tail_bytes, bytes);
    region->to = record->word[1];
    region->from = record->word[2];
    region->data = (const uint8_t *)record->tail + launch;
    region->bytes = bytes;
    region->back_bytes = wire_region_brings(record);
    region->launch = *record;
    region->launch.code = WIRE_LAUNCH;
    region->launch.flags = record->flags & (WIRE_REPLY | WIRE_GEOMETRY | WIRE_CONTEXT);
    region->launch.tail_bytes = launch;
    return OMPRMA_OK;
}

omprma_status_t wire_open_runs(const struct wire_record *record, struct wire_runs *runs)
{
    uint64_t all, data;

    if (record->tail_bytes < sizeof(runs->shape))
        return error_set(OMPRMA_ERR_PROTOCOL, "%s without a shape", wire_code_name(record->code));
    memcpy(&runs->shape, record->tail, sizeof(runs->shape));
    runs->at = record->word[0];
    runs->packed = record->word[1];
    runs->first = record->word[2];
    runs->runs = record->word[3];
    data = record->tail_bytes - sizeof(runs->shape);
    runs->data = data ? (const uint8_t *)record->tail + sizeof(runs->shape) : NULL;
    if (!shape_is_sound(&runs->shape) || runs->at > UINT64_MAX - SHAPE_MOST)
        return error_set(OMPRMA_ERR_PROTOCOL, "%s with an impossible shape",
                         wire_code_name(record->code));
    all = shape_runs(&runs->shape);
    if (runs->runs == 0 || runs->first > all || runs->runs > all - runs->first ||
        runs->runs > WIRE_RUNS_BYTES / runs->shape.bytes)
        return error_set(OMPRMA_ERR_PROTOCOL, "%s of runs that its shape does not have",
                         wire_code_name(record->code));
    if (data && (record->code != WIRE_SCATTER || data != runs->runs * runs->shape.bytes))
        return error_set(OMPRMA_ERR_PROTOCOL, "%s with a tail that is not its runs",
                         wire_code_name(record->code));
    return OMPRMA_OK;
}
