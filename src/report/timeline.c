/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * timeline.c: puts spans in order, in time and on tracks. A worker's clock was compared with this
 * side's at the beginning and at the end; in between both are taken to run evenly. There is
 * room for the most tracks and samples that slices can make; its pages come when they are used.
 */
#include "report/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/error.h"
#include "report/outfile.h"

enum {
    APART_NS = 2, /* least distance of neighbours: readers compute with rounded microseconds */
    HEADS = 4096
};

/* ---- time ---- */

/* A moment of the worker's by this side's clock. */
static int64_t bring_over(const struct recorded_device *device, int64_t there_ns)
{
    const struct trace_clock *first = &device->first, *last = &device->last;
    int64_t at = there_ns - first->ahead_ns;
    double part = 0;

    if (last->at_ns > first->at_ns)
        part = (double)(at - first->at_ns) / (double)(last->at_ns - first->at_ns);
    return at - (int64_t)(part * (double)(last->ahead_ns - first->ahead_ns));
}

/* However exact the clock is, it lies between what this side saw. */
static void place_told(const struct recording *recording, struct slice *slice)
{
    const struct span *span = slice->span;
    const struct recorded_device *device = &recording->device[span->device];
    int64_t begin = bring_over(device, span->ran_ns), end = bring_over(device, span->ran_end_ns);
    int64_t early = span->begin_ns - begin, late = end - span->end_ns;
    int64_t shift = early > 0 ? early : late > 0 ? -late : 0;

    begin += shift;
    end += shift;
    slice->begin_ns = begin > span->begin_ns ? begin : span->begin_ns;
    slice->end_ns = end < span->end_ns ? end : span->end_ns;
}

static struct slice slice_of(const struct recording *recording, const struct span *span)
{
    struct slice slice = {.span = span, .begin_ns = span->begin_ns, .end_ns = span->end_ns};

    if (span->ran_ns)
        place_told(recording, &slice);
    if (slice.end_ns < slice.begin_ns)
        slice.end_ns = slice.begin_ns;
    if (span->kind == SPAN_REGION) /* its parts end before */
        slice.end_ns += APART_NS;
    return slice;
}

/* The last wait for a region ends with it. */
static struct slice wait_of(const struct span *region)
{
    return (struct slice){
        .span = region,
        .is_wait = true,
        .begin_ns = region->wait_ns,
        .end_ns = region->end_ns > region->wait_ns ? region->end_ns : region->wait_ns,
    };
}

/* What begins together: the longer one is around the other. */
static int compare_slices(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;

    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    if (x->is_wait != y->is_wait)
        return x->is_wait ? 1 : -1;
    return x->span->number < y->span->number ? -1 : x->span->number > y->span->number;
}

static bool is_sound(const struct recording *recording, const struct span *span)
{
    return span->number && span->begin_ns && span->kind < SPAN_KINDS &&
           span->device < (uint32_t)recording->device_count;
}

static bool collect(struct timeline *timeline)
{
    const struct recording *recording = timeline->recording;
    uint64_t kept = recording->ended < RECORDING_SPANS ? recording->ended : RECORDING_SPANS;

    timeline->slices = calloc(2 * kept + 1, sizeof(*timeline->slices));
    if (!timeline->slices)
        return false;
    for (uint64_t i = 0; i < kept; i++) {
        const struct span *span = &recording->ring[i];

        if (!is_sound(recording, span))
            continue;
        timeline->slices[timeline->slice_count++] = slice_of(recording, span);
        if (span->wait_ns)
            timeline->slices[timeline->slice_count++] = wait_of(span);
    }
    qsort(timeline->slices, timeline->slice_count, sizeof(*timeline->slices), compare_slices);
    return true;
}

/* ---- tracks ---- */

/* True if it lies beside all of a track, or inside of what it lies in. */
static bool fits(struct track *track, const struct slice *slice)
{
    while (track->depth > 0 && track->ends[track->depth - 1] + APART_NS <= slice->begin_ns)
        track->depth--;
    if (track->depth == (int)(sizeof(track->ends) / sizeof(track->ends[0])) ||
        (track->depth > 0 && slice->end_ns > track->ends[track->depth - 1]))
        return false;
    track->ends[track->depth++] = slice->end_ns;
    return true;
}

static void place(struct timeline *timeline, uint32_t *heads, struct slice *slice)
{
    const struct span *span = slice->span;
    struct track wanted = {.device = slice->is_wait ? -1 : (int)span->device,
                           .key = slice->is_wait ? span->thread : span->queue};
    uint32_t *head = &heads[((uint32_t)wanted.device * 61 + wanted.key) % HEADS];
    uint32_t at = *head, last = 0;

    while (at && (timeline->tracks[at - 1].device != wanted.device ||
                  timeline->tracks[at - 1].key != wanted.key))
        at = timeline->tracks[at - 1].next_head;
    for (; at; at = timeline->tracks[at - 1].next) {
        if (fits(&timeline->tracks[at - 1], slice)) {
            slice->track = at;
            return;
        }
        last = at;
        wanted.lane++;
    }
    if (!last)
        wanted.next_head = *head;
    timeline->tracks[timeline->track_count++] = wanted;
    slice->track = timeline->track_count;
    *(last ? &timeline->tracks[last - 1].next : head) = slice->track;
    fits(&timeline->tracks[slice->track - 1], slice);
}

static bool place_all(struct timeline *timeline)
{
    uint32_t *heads = calloc(HEADS, sizeof(*heads));
    bool has_room;

    timeline->tracks = calloc(timeline->slice_count + 1, sizeof(*timeline->tracks));
    has_room = heads && timeline->tracks;
    for (uint32_t i = 0; i < timeline->slice_count && has_room; i++)
        place(timeline, heads, &timeline->slices[i]);
    free(heads);
    return has_room;
}

/* ---- all ---- */

omprma_status_t timeline_write(const struct recording *recording, const char *path)
{
    const char *what = config_known_as("OMPRMA_TRACE");
    struct timeline timeline = {.recording = recording};
    struct outfile out;
    omprma_status_t status = OMPRMA_OK;

    if (!collect(&timeline) || !place_all(&timeline) || !timeline_count(&timeline) ||
        !timeline_draw(&timeline))
        status = error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to write the trace");
    if (status == OMPRMA_OK)
        status = outfile_open(&out, what, path);
    if (status == OMPRMA_OK) {
        timeline_print(&timeline, out.file);
        status = outfile_close(&out, what);
    }
    free(timeline.slices);
    free(timeline.tracks);
    free(timeline.samples);
    free(timeline.arrows);
    return status;
}
