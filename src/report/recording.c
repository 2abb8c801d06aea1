/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * recording.c: rows are found by a hash and are never taken out. Everything that a reader finds by
 * a count is written before the count.
 */
#include "report/recording.h"

#include <string.h>

size_t recording_bytes(int devices_most)
{
    return sizeof(struct recording) + (size_t)devices_most * sizeof(struct recorded_device);
}

void recording_make(struct recording *recording, int devices_most)
{
    recording->bytes = recording_bytes(devices_most);
    recording->devices_most = devices_most;
    recording->text_bytes = 1; /* 0 is none */
}

/* ---- texts ---- */

uint32_t recording_text(struct recording *recording, const char *text)
{
    size_t bytes = strlen(text) + 1;
    uint32_t at = recording->text_bytes;

    if (bytes > RECORDING_TEXTS - at)
        return 0;
    memcpy(recording->text + at, text, bytes);
    recording->text_bytes = at + (uint32_t)bytes;
    return at;
}

const char *recording_words(const struct recording *recording, uint32_t text)
{
    return text > 0 && text < RECORDING_TEXTS ? recording->text + text : "?";
}

/* ---- the table ---- */

struct recorded_region *recording_row(struct recording *recording, uint32_t name, uint32_t device)
{
    uint32_t at = (name * 31 + device) % (RECORDING_ROWS - 1);

    for (int tries = 0; tries < 64; tries++, at = (at + 1) % (RECORDING_ROWS - 1)) {
        struct recorded_region *row = &recording->row[at];

        if (row->name == name && row->device == device)
            return row;
        if (row->name)
            continue;
        row->device = device;
        row->name = name;
        recording->rows++;
        return row;
    }
    recording->row[RECORDING_ROWS - 1].device = UINT32_MAX;
    return &recording->row[RECORDING_ROWS - 1];
}

/* Eight steps to each octave: the three bits behind the first one. */
static int step_of(int64_t ns)
{
    uint64_t value = ns > RECORDING_STEPS ? (uint64_t)ns : RECORDING_STEPS;
    int octave = 63 - __builtin_clzll(value); /* 3 or more */
    int step = (octave - 3) * RECORDING_STEPS + (int)(value >> (octave - 3)) - RECORDING_STEPS;

    return step < RECORDING_DURATIONS ? step : RECORDING_DURATIONS - 1;
}

/* The middle of a step. */
static int64_t duration_of(int step)
{
    int octave = step / RECORDING_STEPS;
    int64_t begin = (int64_t)(RECORDING_STEPS + step % RECORDING_STEPS) << octave;

    return begin + ((int64_t)1 << octave) / 2;
}

/* Exact where it is known exactly. */
int64_t recording_median(const struct recorded_region *row)
{
    uint64_t below = 0;

    if (row->count == 1)
        return row->first_ns;
    for (int step = 0; step < RECORDING_DURATIONS; step++) {
        below += row->durations[step];
        if (2 * below >= row->count && below > 0)
            return duration_of(step) < row->most_ns ? duration_of(step) : row->most_ns;
    }
    return row->most_ns;
}

/* Regions of a line overlap where nobody waits for each. They come here as they end, so what an
 * earlier one has covered is not counted again. */
static void cover(struct recorded_region *row, const struct span *region)
{
    int64_t from = region->begin_ns > row->covered_to_ns ? region->begin_ns : row->covered_to_ns;

    if (region->end_ns <= from)
        return;
    row->covered_ns += region->end_ns - from;
    row->covered_to_ns = region->end_ns;
}

void recording_count(struct recording *recording, const struct span *region)
{
    struct recorded_region *row = recording_row(recording, region->name, region->device);
    int64_t ns = region->end_ns - region->begin_ns;

    if (row->count++ == 0)
        row->first_ns = ns;
    row->durations[step_of(ns)]++;
    cover(row, region);
    row->failed += region->failed;
    row->unended += region->unended;
    row->to += region->to;
    row->back += region->back;
    row->total_ns += ns;
    row->waited_ns += region->waited_ns;
    row->kernel_ns += region->kernel_ns;
    row->data_ns += region->data_ns;
    if (ns > row->most_ns)
        row->most_ns = ns;
}

/* ---- the critical path ---- */

struct chain chain_grown(const struct chain *chain, enum chain_part part, int64_t begin_ns,
                         int64_t end_ns)
{
    struct chain longer = *chain;

    if (begin_ns < chain->end_ns)
        begin_ns = chain->end_ns;
    if (end_ns < begin_ns)
        end_ns = begin_ns;
    longer.ns[CHAIN_MESSAGES] += begin_ns - chain->end_ns;
    longer.ns[part] += end_ns - begin_ns;
    longer.end_ns = end_ns;
    return longer;
}

/* ---- spans ---- */

void recording_keep(struct recording *recording, const struct span *span)
{
    recording->ring[recording->ended % RECORDING_SPANS] = *span;
    recording->ended++;
}

static void close_span(struct recording *recording, struct span *span)
{
    span->unended = span->kind == SPAN_REGION ? span->pending > 0 : !span->end_ns;
    if (span->unended || !span->end_ns)
        span->end_ns = recording->end_ns;
    if (span->unended && span->waits_ns)
        span->waited_ns += recording->end_ns - span->waits_ns;
    if (span->kind == SPAN_REGION)
        recording_count(recording, span);
    if (recording->traces)
        recording_keep(recording, span);
    span->number = 0;
}

void recording_close(struct recording *recording, int64_t now_ns)
{
    recording->cut = !recording->end_ns;
    if (recording->cut)
        recording->end_ns = now_ns;
    for (uint32_t i = 0; i < RECORDING_OPEN; i++)
        if (recording->open[i].number && recording->open[i].begin_ns)
            close_span(recording, &recording->open[i]);
    if (recording->chain.end_ns)
        recording->chain = chain_grown(&recording->chain, CHAIN_PROGRAM, recording->chain.end_ns,
                                       recording->end_ns);
}
