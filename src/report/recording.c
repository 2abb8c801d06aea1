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

void recording_count(struct recording *recording, const struct span *region)
{
    struct recorded_region *row = recording_row(recording, region->name, region->device);
    int64_t ns = region->end_ns - region->begin_ns;

    row->count++;
    row->failed += region->failed;
    row->unended += region->unended;
    row->to += region->to;
    row->back += region->back;
    row->total_ns += ns;
    row->waited_ns += region->waited_ns;
    if (ns > row->most_ns)
        row->most_ns = ns;
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
    if (span->unended && span->wait_ns)
        span->waited_ns += recording->end_ns - span->wait_ns;
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
}
