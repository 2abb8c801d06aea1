/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_wire.c: every record survives the way, and no message, however damaged, is misread.
 * Covers: wire.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "control/wire.h"
#include "control/world.h"

static const unsigned all_codes[] = {
    WIRE_WRITE,  WIRE_READ,    WIRE_LAUNCH, WIRE_RECV,  WIRE_SEND,   WIRE_PUT,     WIRE_GET,
    WIRE_COPY,   WIRE_FENCE,   WIRE_WAIT,   WIRE_RESET, WIRE_GROW,   WIRE_RELEASE, WIRE_LOAD,
    WIRE_AWAKE,  WIRE_BENCH,   WIRE_EXIT,   WIRE_LOST,  WIRE_FILL,   WIRE_ASK,     WIRE_SCATTER,
    WIRE_GATHER, WIRE_SHARE,   WIRE_STORE,  WIRE_FETCH, WIRE_DONE,   WIRE_FAILED,  WIRE_OUTPUT,
    WIRE_ALIVE,  WIRE_STALLED, WIRE_SPAN,   WIRE_TURN,  WIRE_NUMBER, WIRE_REGION,  WIRE_MAP,
    WIRE_UNMAP,  WIRE_BELL,
};
enum { CODES = sizeof(all_codes) / sizeof(all_codes[0]) };

static _Alignas(64) uint8_t memory[WIRE_MESSAGE_BYTES];

static uint64_t next_random(void)
{
    static uint64_t word = UINT64_C(0x9e3779b97f4a7c15);

    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    return word * UINT64_C(2685821657736338717);
}

static uint64_t below(uint64_t limit)
{
    return (next_random() >> 16) % limit;
}

static bool has_tail(unsigned code)
{
    return code == WIRE_WRITE || code == WIRE_LAUNCH || code == WIRE_DONE || code == WIRE_FAILED ||
           code == WIRE_OUTPUT || code == WIRE_LOST || code == WIRE_ASK || code == WIRE_REGION ||
           code == WIRE_SCATTER || code == WIRE_GATHER;
}

static enum wire_kind kind_of(unsigned code)
{
    return code < WIRE_COMMAND_END ? WIRE_COMMANDS : WIRE_RESULTS;
}

static struct wire_record make_record(unsigned code, uint32_t tail_bytes, const void *tail)
{
    struct wire_record record = {
        .code = (uint16_t)code,
        .flags = (uint16_t)(next_random() & WIRE_REPLY),
        .device = 5,
        .queue = 7,
        .op = (uint32_t)next_random(),
        .tail_bytes = tail_bytes,
        .tail = tail,
    };

    for (int i = 0; i < wire_words(code); i++)
        record.word[i] = next_random();
    return record;
}

static bool same_record(const struct wire_record *a, const struct wire_record *b)
{
    return a->code == b->code && a->flags == b->flags && a->device == b->device &&
           a->queue == b->queue && a->op == b->op && a->tail_bytes == b->tail_bytes &&
           memcmp(a->word, b->word, 8 * (size_t)wire_words(a->code)) == 0 &&
           (a->tail_bytes == 0 || memcmp(a->tail, b->tail, a->tail_bytes) == 0);
}

TEST(every_code_survives)
{
    static const uint8_t tail[4096];

    for (int i = 0; i < CODES; i++) {
        for (uint32_t bytes = 0; bytes <= (has_tail(all_codes[i]) ? 64u : 0u); bytes += 8) {
            struct wire_buffer buffer = {memory, 0, sizeof(memory)};
            struct wire_record in = make_record(all_codes[i], bytes, tail), out;
            struct wire_reader reader;

            wire_begin(&buffer);
            assert_non_null(wire_append(&buffer, &in));
            wire_seal(&buffer, kind_of(all_codes[i]), 41, 42, i % 2);
            assert_int_equal(wire_open(&reader, memory, buffer.used), OMPRMA_OK);
            assert_int_equal(reader.header.kind, kind_of(all_codes[i]));
            assert_int_equal(reader.header.serial, 41);
            assert_int_equal(reader.header.ack, 42);
            assert_int_equal(reader.header.wants_ack, i % 2);
            assert_true(wire_next(&reader, &out));
            assert_true(same_record(&in, &out));
            assert_false(wire_next(&reader, &out));
            assert_string_not_equal(wire_code_name(all_codes[i]), "unknown");
        }
    }
}

TEST(unknown_codes_are_known_as_such)
{
    unsigned known = 0;

    for (unsigned code = 0; code < 70000; code++) {
        known += wire_words(code) >= 0;
        assert_int_equal(wire_words(code) < 0, strcmp(wire_code_name(code), "unknown") == 0);
    }
    assert_int_equal(known, CODES);
}

TEST(want_reply_marks_the_last_record)
{
    struct wire_buffer buffer = {memory, 0, sizeof(memory)};
    struct wire_record record = {.code = WIRE_FENCE};
    struct wire_reader reader;
    uint32_t last = 0;

    wire_begin(&buffer);
    for (int i = 0; i < 3; i++) {
        last = buffer.used;
        wire_append(&buffer, &record);
    }
    wire_want_reply(&buffer, last);
    wire_seal(&buffer, WIRE_COMMANDS, 1, 0, false);
    assert_int_equal(wire_open(&reader, memory, buffer.used), OMPRMA_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(wire_next(&reader, &record));
        assert_int_equal(record.flags, i == 2 ? WIRE_REPLY : 0);
    }
}

TEST(messages_fill_to_the_last_byte)
{
    for (uint32_t capacity = 64; capacity < 400; capacity += 8) {
        struct wire_buffer buffer = {memory, 0, capacity};
        struct wire_record record = {.code = WIRE_WRITE, .tail = memory};
        uint32_t most = capacity - WIRE_HEADER_BYTES - WIRE_RECORD_BYTES - 8;

        wire_begin(&buffer);
        record.tail_bytes = most + 1;
        assert_null(wire_append(&buffer, &record));
        assert_int_equal(buffer.used, WIRE_HEADER_BYTES);
        record.tail_bytes = most;
        record.tail = NULL;
        assert_non_null(wire_append(&buffer, &record));
        assert_int_equal(buffer.used, capacity);
        record.tail_bytes = 0;
        assert_null(wire_append(&buffer, &record));
        record.tail_bytes = UINT32_MAX;
        assert_null(wire_append(&buffer, &record));
        assert_int_equal(buffer.used, capacity);
    }
}

TEST(launches_carry_their_geometry)
{
    const uint64_t words[WIRE_GEOMETRY_WORDS + 2] = {
        2 | UINT64_C(3) << 32, 4 | UINT64_C(5) << 32, 6 | UINT64_C(7) << 32, 8, 9, 90, 91};
    struct wire_record record = {
        .code = WIRE_LAUNCH, .flags = WIRE_GEOMETRY, .tail = words, .tail_bytes = sizeof(words)};
    struct wire_launch launch;

    assert_int_equal(wire_open_launch(&record, &launch), OMPRMA_OK);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(launch.geometry.teams[i], 2 + i);
        assert_int_equal(launch.geometry.threads[i], 5 + i);
    }
    assert_int_equal(launch.geometry.shared_bytes, 8);
    assert_int_equal(launch.geometry.private_bytes, 9);
    assert_int_equal(launch.count, 2);
    assert_int_equal(launch.arguments[1], 91);
    record.flags = 0; /* all of it is arguments */
    assert_int_equal(wire_open_launch(&record, &launch), OMPRMA_OK);
    assert_int_equal(launch.geometry.teams[0], 0);
    assert_int_equal(launch.count, WIRE_GEOMETRY_WORDS + 2);
    record.flags = WIRE_GEOMETRY;
    record.tail_bytes = 8 * (WIRE_GEOMETRY_WORDS - 1);
    assert_int_equal(wire_open_launch(&record, &launch), OMPRMA_ERR_PROTOCOL);
}

TEST(launches_carry_their_form)
{
    const uint64_t words[] = {16, 90, 91};
    struct wire_record record = {
        .code = WIRE_LAUNCH, .flags = WIRE_CONTEXT, .tail = words, .tail_bytes = sizeof(words)};
    struct wire_launch launch;

    assert_int_equal(wire_open_launch(&record, &launch), OMPRMA_OK);
    assert_true(launch.context && !launch.packed);
    assert_int_equal(launch.count, 3);
    record.flags = WIRE_PACKED;
    assert_int_equal(wire_open_launch(&record, &launch), OMPRMA_OK);
    assert_true(launch.packed && !launch.context);
    record.flags = WIRE_PACKED | WIRE_CONTEXT;
    assert_int_equal(wire_open_launch(&record, &launch), OMPRMA_ERR_PROTOCOL);
}

TEST(regions_are_three_commands)
{
    const uint64_t tail[] = {2, 3, 4, 5, 6, 90, 91, UINT64_C(0x0102030405060708)};
    struct wire_record record = {.code = WIRE_REGION,
                                 .flags = WIRE_GEOMETRY | WIRE_REPLY | WIRE_CONTEXT,
                                 .device = 3,
                                 .queue = 4,
                                 .op = 5,
                                 .word = {7000, 100, 200, UINT64_C(3) << 32 | 40},
                                 .tail = tail,
                                 .tail_bytes = 7 * 8 + 3};
    struct wire_region region;
    struct wire_launch launch;

    assert_int_equal(wire_open_region(&record, &region), OMPRMA_OK);
    assert_int_equal(region.to, 100);
    assert_int_equal(region.bytes, 3);
    assert_ptr_equal(region.data, tail + 7);
    assert_int_equal(region.launch.code, WIRE_LAUNCH);
    assert_int_equal(region.launch.word[0], 7000);
    assert_int_equal(wire_open_launch(&region.launch, &launch), OMPRMA_OK);
    assert_true(launch.context);
    assert_int_equal(launch.geometry.teams[0], 2);
    assert_int_equal(launch.count, 2);
    assert_int_equal(launch.arguments[1], 91);
    assert_int_equal(region.from, 200);
    assert_int_equal(region.back_bytes, 40);
    assert_int_equal(region.launch.op, 5);
    record.word[3] = UINT64_C(4) << 32; /* the arguments would be no whole words */
    assert_int_equal(wire_open_region(&record, &region), OMPRMA_ERR_PROTOCOL);
    record.word[3] = UINT64_C(52) << 32; /* it writes more than there is */
    assert_int_equal(wire_open_region(&record, &region), OMPRMA_ERR_PROTOCOL);
    record.word[3] = UINT64_C(51) << 32;
    assert_int_equal(wire_open_region(&record, &region), OMPRMA_OK);
    assert_int_equal(wire_open_launch(&region.launch, &launch), OMPRMA_ERR_PROTOCOL);
}

/* Runs are opened only where a worker could copy them. */
TEST(runs_are_sound)
{
    struct {
        struct shape shape;
        uint8_t data[64];
    } tail = {.shape = {.bytes = 8, .count = {4, 2, 1}, .stride = {16, 100, 0}}};
    struct wire_record record = {.code = WIRE_SCATTER,
                                 .word = {4096, 0, 2, 6},
                                 .tail_bytes = sizeof(tail.shape) + 48,
                                 .tail = &tail};
    const struct wire_record right = record;
    const struct shape sound = tail.shape;
    struct wire_runs runs;

    assert_int_equal(wire_open_runs(&record, &runs), OMPRMA_OK);
    assert_ptr_equal(runs.data, tail.data);
    record.tail_bytes = sizeof(tail.shape);
    assert_int_equal(wire_open_runs(&record, &runs), OMPRMA_OK);
    assert_null(runs.data);
    record.tail_bytes--;
    assert_int_equal(wire_open_runs(&record, &runs), OMPRMA_ERR_PROTOCOL);
    record = right;
    record.tail_bytes += 8; /* more than its runs */
    assert_int_equal(wire_open_runs(&record, &runs), OMPRMA_ERR_PROTOCOL);
    record = right;
    record.code = WIRE_GATHER; /* brings none */
    assert_int_equal(wire_open_runs(&record, &runs), OMPRMA_ERR_PROTOCOL);
    record = right;
    record.word[3] = 7; /* it has 8 */
    assert_int_equal(wire_open_runs(&record, &runs), OMPRMA_ERR_PROTOCOL);
    record.word[2] = UINT64_MAX;
    assert_int_equal(wire_open_runs(&record, &runs), OMPRMA_ERR_PROTOCOL);
    record = right;
    record.word[0] = UINT64_MAX - 100; /* goes around */
    assert_int_equal(wire_open_runs(&record, &runs), OMPRMA_ERR_PROTOCOL);
    record = right;
    for (int i = 0; i < 2 * SHAPE_RANK + 1; i++) {
        memset((uint64_t *)&tail.shape + i, i < SHAPE_RANK + 1 ? 0 : 0xff, 8);
        assert_int_equal(wire_open_runs(&record, &runs),
                         i == 2 * SHAPE_RANK ? OMPRMA_OK : OMPRMA_ERR_PROTOCOL);
        tail.shape = sound;
    }
}

TEST(padding_does_not_leak)
{
    struct wire_buffer buffer = {memory, 0, sizeof(memory)};
    struct wire_record record = {.code = WIRE_WRITE, .tail = "abc", .tail_bytes = 3};

    memset(memory, 0xee, 256);
    wire_begin(&buffer);
    wire_append(&buffer, &record);
    for (uint32_t i = buffer.used - 5; i < buffer.used; i++)
        assert_int_equal(memory[i], 0);
}

static omprma_status_t open_altered(size_t at, uint64_t value, size_t bytes, size_t length)
{
    static _Alignas(64) uint8_t copy[WIRE_MESSAGE_BYTES];
    struct wire_reader reader;

    memcpy(copy, memory, length < sizeof(copy) ? length : sizeof(copy));
    memcpy(copy + at, &value, bytes);
    return wire_open(&reader, copy, length);
}

TEST(damage_is_named)
{
    struct wire_buffer buffer = {memory, 0, sizeof(memory)};
    struct wire_record record = {.code = WIRE_WRITE, .tail = "abcdefgh", .tail_bytes = 8};
    uint32_t used, first = WIRE_HEADER_BYTES;

    wire_begin(&buffer);
    wire_append(&buffer, &record);
    record = (struct wire_record){.code = WIRE_FENCE};
    wire_append(&buffer, &record);
    wire_seal(&buffer, WIRE_COMMANDS, 1, 0, false);
    used = buffer.used;
    assert_int_equal(open_altered(0, 0, 0, used), OMPRMA_OK);
    assert_int_equal(open_altered(0, 0, 0, 0), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(0, 0, 0, WIRE_HEADER_BYTES - 1), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(0, 0, 0, used - 8), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(0, 0x1234, 2, used), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(2, WIRE_VERSION + 1, 1, used), OMPRMA_ERR_VERSION);
    assert_int_equal(open_altered(3, 0, 1, used), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(3, WIRE_RESULTS, 1, used), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(4, used + 8, 4, used), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(first, WIRE_COMMAND_END, 1, used), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(first, WIRE_DONE, 1, used), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(first + 4, 0, 4, used), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(first + 4, used, 4, used), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(first + 4, UINT32_MAX, 4, used), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(open_altered(first + 8, 5, 4, used), OMPRMA_ERR_PROTOCOL);
    assert_non_null(strstr(omprma_error(), "queue 5 and device 0, queue 0"));
    assert_int_equal(open_altered(first + 2, 3, 2, used), OMPRMA_ERR_PROTOCOL);
    assert_non_null(strstr(omprma_error(), "device 3"));
}

/* ---- random damage ---- */

/* A message of random records; its length. */
static uint32_t make_message(uint8_t *data)
{
    static const uint8_t tail[512];
    struct wire_buffer buffer = {data, 0, 1024};
    bool commands = next_random() & 1;
    uint64_t count = below(6);

    wire_begin(&buffer);
    while (count--) {
        unsigned code = all_codes[below(CODES)];
        struct wire_record record =
            make_record(code, has_tail(code) ? (uint32_t)below(65) * 8 : 0, tail);

        if ((kind_of(code) == WIRE_COMMANDS) == commands)
            wire_append(&buffer, &record);
    }
    wire_seal(&buffer, commands ? WIRE_COMMANDS : WIRE_RESULTS, (uint32_t)next_random(),
              (uint32_t)next_random(), next_random() & 1);
    return buffer.used;
}

static void damage(uint8_t *data, uint32_t *bytes)
{
    static const uint32_t values[] = {0, 1, 7, 8, 16, 255, 0x7fffffff, 0x80000000, 0xffffffff};
    uint32_t value = values[below(sizeof(values) / sizeof(values[0]))];

    switch (below(5)) {
    case 0:
        data[below(*bytes)] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        data[below(*bytes)] = (uint8_t)next_random();
        break;
    case 2: /* a field of four bytes */
        memcpy(data + below(*bytes / 4) * 4, &value, 4);
        break;
    case 3: /* the length, and the length in the header with it */
        *bytes = WIRE_HEADER_BYTES + (uint32_t)below(*bytes - WIRE_HEADER_BYTES + 1);
        memcpy(data + 4, bytes, 4);
        break;
    default: /* the beginning, which decides most, but not what is checked first */
        data[4 + below(28)] = (uint8_t)next_random();
        break;
    }
}

/* What was accepted has to give the same message again, padding aside. */
static bool accepted_again(struct wire_reader *reader, const uint8_t *data, uint32_t bytes)
{
    static _Alignas(64) uint8_t again[WIRE_MESSAGE_BYTES];
    struct wire_buffer buffer = {again, 0, sizeof(again)};
    struct wire_header header = reader->header;
    struct wire_record record, same;
    struct wire_reader twice;

    wire_begin(&buffer);
    while (wire_next(reader, &record)) {
        const uint8_t *tail = record.tail;

        if (tail < data || tail > data + bytes || record.tail_bytes > data + bytes - tail)
            return false;
        if (!wire_append(&buffer, &record))
            return false;
    }
    wire_seal(&buffer, (enum wire_kind)header.kind, header.serial, header.ack, header.wants_ack);
    if (buffer.used != bytes || wire_open(&twice, again, bytes) != OMPRMA_OK ||
        wire_open(reader, data, bytes) != OMPRMA_OK || memcmp(again, data, WIRE_HEADER_BYTES) != 0)
        return false;
    while (wire_next(reader, &record))
        if (!wire_next(&twice, &same) || !same_record(&record, &same))
            return false;
    return !wire_next(&twice, &same);
}

TEST(damaged_messages_are_refused_or_understood)
{
    enum { MESSAGES = 1200000 };
    unsigned accepted = 0;

    for (int i = 0; i < MESSAGES; i++) {
        static _Alignas(64) uint8_t made[1024];
        struct wire_reader reader;
        uint32_t bytes = make_message(made);
        uint8_t *data;

        for (uint64_t changes = below(4); changes; changes--)
            damage(made, &bytes);
        data = aligned_alloc(8, (bytes + 7u) & ~7u); /* nothing behind it may be read */
        assert_non_null(data);
        memcpy(data, made, bytes);
        if (wire_open(&reader, data, bytes) == OMPRMA_OK) {
            accepted++;
            if (!accepted_again(&reader, data, bytes))
                fail_msg("message %d was accepted, but not understood", i);
        }
        free(data);
    }
    assert_in_range(accepted, MESSAGES / 5, MESSAGES * 4 / 5);
}

/* docs/protocol.md, in which every number is looked for. */
static char document[256 << 10];

static void assert_told(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void assert_told(const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!strstr(document, text))
        fail_msg("docs/protocol.md lacks \"%s\"", text);
}

TEST(the_document_is_true)
{
    static const char *const flags[] = {"REPLY",  "CRASHED", "GEOMETRY", "PACKED",
                                        "MODULE", "STAGED",  "SPIN",     "CONTEXT"};
    const char *source = getenv("SOURCE_DIR");
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/docs/protocol.md", source ? source : ".");
    file = fopen(path, "r");
    assert_non_null(file);
    assert_in_range(fread(document, 1, sizeof(document) - 1, file), 1, sizeof(document) - 2);
    fclose(file);
    assert_told("Protocol version %d,", WIRE_VERSION);
    assert_told("| version | %d |", WIRE_VERSION);
    for (int i = 0; i < CODES; i++)
        assert_told("\n| %u | %s |", all_codes[i], wire_code_name(all_codes[i]));
    for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        assert_told("bit %u, %s: ", i, flags[i]);
    assert_int_equal(WIRE_CONTEXT, 1 << (sizeof(flags) / sizeof(flags[0]) - 1));
    assert_told("Role (%zu bytes) and answer (%zu bytes)", sizeof(struct join_role),
                sizeof(struct join_answer));
    assert_told("Processors (%zu bytes) and place (%zu bytes)", sizeof(struct join_cpus),
                sizeof(struct join_place));
    assert_told("Settings (%zu bytes", sizeof(struct world_settings));
    assert_told("Hello (%zu bytes", sizeof(struct world_hello));
    assert_told("Device (%zu bytes", sizeof(struct world_device));
    assert_told("\n| %zu | u64 | memory_group |", offsetof(struct world_hello, memory_group));
    assert_told("\n| %zu | i32[4] | place |", offsetof(struct world_hello, place));
    assert_told("\n| %zu | char[64] | cpus |", offsetof(struct world_hello, cpus));
    assert_told("\n| %zu | i32 | device_count |", offsetof(struct world_hello, device_count));
    assert_told("\n| %zu | i32 | trace |", offsetof(struct world_settings, trace));
    assert_told("\n| %zu | i64 | cores |", offsetof(struct world_settings, cores));
    assert_told("\n| %zu | i32, i32, u64 | bell | the head", offsetof(struct world_settings, bell));
    assert_told("\n| %zu | u64 | staging_bytes |", offsetof(struct world_device, staging_bytes));
}

TEST(only_the_next_message_is_taken)
{
    _Alignas(8) uint8_t data[WIRE_HEADER_BYTES];
    struct wire_buffer buffer = {data, 0, sizeof(data)};
    struct wire_reader reader;

    wire_begin(&buffer);
    wire_seal(&buffer, WIRE_RESULTS, 0, 0, false); /* after 2^32 - 1 */
    assert_int_equal(wire_open(&reader, data, buffer.used), OMPRMA_OK);
    assert_int_equal(wire_check_next(&reader, WIRE_RESULTS, UINT32_MAX), OMPRMA_OK);
    assert_int_equal(wire_check_next(&reader, WIRE_RESULTS, 0), OMPRMA_ERR_PROTOCOL);
    assert_string_equal(error_text(), "control message 0 came where 1 was due");
    assert_int_equal(wire_check_next(&reader, WIRE_COMMANDS, UINT32_MAX), OMPRMA_ERR_PROTOCOL);
    assert_string_equal(error_text(), "results came instead of commands");
}
