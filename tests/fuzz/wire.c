/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* wire.c: messages of both directions. What the decoder lets through must lie inside the message,
 * and encode to a message with the same records. The first byte says whether the header's magic,
 * version and length are put right, so that the records are reached. */
#include "control/wire.h"
#include "tests/fuzz/fuzz.h"

enum { REPAIR = 1 };

/* As in wire.c; a wrong guess here would only make the search worse. */
static void repair(uint8_t *message, size_t bytes)
{
    const uint16_t magic = WIRE_MAGIC;
    const uint32_t length = (uint32_t)bytes;

    memcpy(message, &magic, sizeof(magic));
    message[2] = WIRE_VERSION;
    memcpy(message + 4, &length, sizeof(length));
}

static void compare(const struct wire_record *a, const struct wire_record *b)
{
    hold(a->code == b->code && a->flags == b->flags && a->device == b->device);
    hold(a->queue == b->queue && a->op == b->op && a->tail_bytes == b->tail_bytes);
    hold(memcmp(a->word, b->word, 8 * (size_t)wire_words(a->code)) == 0);
    hold(a->tail_bytes == 0 || memcmp(a->tail, b->tail, a->tail_bytes) == 0);
}

static void check_launch(const struct wire_record *record)
{
    struct wire_region region;
    struct wire_launch launch;
    uint64_t sum = 0;

    if (record->code == WIRE_REGION && wire_open_region(record, &region) == OMPRMA_OK) {
        hold(region.bytes + region.launch.tail_bytes == record->tail_bytes);
        for (uint32_t i = 0; i < region.bytes; i++)
            sum += ((const uint8_t *)region.data)[i];
        record = &region.launch;
    }
    if (record->code != WIRE_LAUNCH || wire_open_launch(record, &launch) != OMPRMA_OK)
        return;
    for (uint32_t i = 0; i < launch.count; i++)
        sum += launch.arguments[i];
    hold(8 * (uint64_t)launch.count <= record->tail_bytes || sum == 0);
    hold(launch.packed_bytes <= 8 * (uint64_t)launch.count);
}

/* What is opened may be copied: it lies in the tail, or both sides fit. */
static void check_runs(const struct wire_record *record)
{
    struct wire_runs runs;
    uint64_t sum = 0;

    if (wire_open_runs(record, &runs) != OMPRMA_OK)
        return;
    hold(runs.first + runs.runs <= shape_runs(&runs.shape));
    hold(shape_at(&runs.shape, runs.first) + runs.shape.bytes <= shape_reach(&runs.shape));
    hold(shape_at(&runs.shape, runs.first + runs.runs - 1) + runs.shape.bytes <=
         shape_reach(&runs.shape));
    hold(runs.at + shape_reach(&runs.shape) >= runs.at);
    for (uint64_t i = 0; runs.data && i < runs.runs * runs.shape.bytes; i++)
        sum += ((const uint8_t *)runs.data)[i];
    hold(!runs.data || sum <= 255 * (uint64_t)record->tail_bytes);
}

static void check_records(struct wire_reader *reader, size_t bytes)
{
    struct wire_buffer buffer = {.data = malloc(WIRE_MESSAGE_BYTES),
                                 .capacity = WIRE_MESSAGE_BYTES};
    struct wire_reader first = *reader, second;
    struct wire_record record, again;
    size_t records = 0;

    hold(buffer.data != NULL);
    wire_begin(&buffer);
    for (; wire_next(reader, &record); records++) {
        hold(++records <= bytes);
        records--;
        check_launch(&record);
        if (record.code == WIRE_SCATTER || record.code == WIRE_GATHER)
            check_runs(&record);
        hold(wire_append(&buffer, &record) != NULL);
    }
    wire_seal(&buffer, (enum wire_kind)reader->header.kind, reader->header.serial,
              reader->header.ack, reader->header.wants_ack);
    hold(buffer.used <= bytes);
    hold(wire_open(&second, buffer.data, buffer.used) == OMPRMA_OK);
    hold(second.header.serial == reader->header.serial && second.header.ack == reader->header.ack);
    for (; records > 0; records--) {
        hold(wire_next(&first, &record) && wire_next(&second, &again));
        compare(&record, &again);
    }
    hold(!wire_next(&second, &again));
    free(buffer.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct wire_reader reader;
    uint8_t *message;

    if (bytes == 0)
        return 0;
    message = fuzz_copy(data + 1, bytes - 1, 0);
    if (data[0] & REPAIR && bytes > WIRE_HEADER_BYTES)
        repair(message, bytes - 1);
    wire_serial(message, bytes - 1);
    if (wire_open(&reader, message, bytes - 1) == OMPRMA_OK)
        check_records(&reader, bytes - 1);
    free(message);
    return 0;
}
