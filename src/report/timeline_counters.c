/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * timeline_counters.c: a long run has more changes than a picture has points, so the run is cut
 * into windows, and each has the largest value in it.
 */
#include <stdlib.h>

#include "report/timeline.h"

enum { WINDOWS = 4096 };

enum counter { COUNTER_OPERATIONS, COUNTER_BYTES, COUNTER_MEMORY, COUNTERS };

static const char *const names[COUNTERS] = {[COUNTER_OPERATIONS] = "operations",
                                            [COUNTER_BYTES] = "bytes under way",
                                            [COUNTER_MEMORY] = "memory in use"};

/* A value changes, or, `sets`, is known. */
struct change {
    int64_t at_ns;
    int64_t by;
    uint32_t device;
    uint8_t counter;
    bool sets;
};

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->counter != y->counter)
        return x->counter < y->counter ? -1 : 1;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->by < y->by ? -1 : x->by > y->by; /* what ends first */
}

static int compare_samples(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* Up to four. Returns how many there are. */
static int changes_of(const struct span *span, struct change *change)
{
    int64_t bytes = span->kind == SPAN_TRANSFER ? (int64_t)(span->to + span->back) : 0;
    int count = 0;

    if (span->kind == SPAN_REGION) {
        change[count++] = (struct change){span->begin_ns, (int64_t)span->memory, span->device,
                                          COUNTER_MEMORY, true};
        return count;
    }
    change[count++] = (struct change){span->asked_ns, 1, span->device, COUNTER_OPERATIONS, false};
    change[count++] = (struct change){span->end_ns, -1, span->device, COUNTER_OPERATIONS, false};
    if (bytes) {
        change[count++] =
            (struct change){span->begin_ns, bytes, span->device, COUNTER_BYTES, false};
        change[count++] = (struct change){span->end_ns, -bytes, span->device, COUNTER_BYTES, false};
    }
    return count;
}

static void add_sample(struct timeline *timeline, const struct change *change, int64_t at_ns,
                       int64_t value)
{
    timeline->samples[timeline->sample_count++] = (struct sample){
        at_ns, change->device, names[change->counter], value > 0 ? (uint64_t)value : 0};
}

/* Changes of one counter of one device, from `first` to before `end`. At most two samples for each.
 */
static void sample_one(struct timeline *timeline, const struct change *first,
                       const struct change *end, int64_t from_ns, int64_t window_ns)
{
    int64_t value = 0, said = -1;

    while (first < end) {
        int64_t window = (first->at_ns - from_ns) / window_ns, most = value;
        int64_t at = first->at_ns, past = from_ns + (window + 1) * window_ns;

        for (; first < end && first->at_ns < past; first++) {
            value = first->sets ? first->by : value + first->by;
            most = value > most ? value : most;
        }
        if (most != said)
            add_sample(timeline, first - 1, at, most);
        said = most;
        if (value != most && (first == end || first->at_ns >= past + window_ns)) {
            add_sample(timeline, first - 1, past, value);
            said = value;
        }
    }
}

static void sample_all(struct timeline *timeline, struct change *changes, size_t count)
{
    int64_t from = INT64_MAX, to = 0, window;
    size_t begin = 0;

    for (size_t i = 0; i < count; i++) {
        from = changes[i].at_ns < from ? changes[i].at_ns : from;
        to = changes[i].at_ns > to ? changes[i].at_ns : to;
    }
    window = count ? (to - from) / WINDOWS + 1 : 1;
    qsort(changes, count, sizeof(*changes), compare_changes);
    for (size_t i = 0; i < count; i++) {
        bool last = i + 1 == count || changes[i + 1].device != changes[i].device ||
                    changes[i + 1].counter != changes[i].counter;

        if (!last)
            continue;
        sample_one(timeline, &changes[begin], &changes[i + 1], from, window);
        begin = i + 1;
    }
    qsort(timeline->samples, timeline->sample_count, sizeof(*timeline->samples), compare_samples);
}

bool timeline_count(struct timeline *timeline)
{
    struct change *changes = calloc(4 * (size_t)timeline->slice_count + 1, sizeof(*changes));
    size_t count = 0;

    for (uint32_t i = 0; i < timeline->slice_count && changes; i++)
        if (!timeline->slices[i].is_wait)
            count += (size_t)changes_of(timeline->slices[i].span, &changes[count]);
    timeline->samples = changes ? calloc(2 * count + 1, sizeof(*timeline->samples)) : NULL;
    if (timeline->samples)
        sample_all(timeline, changes, count);
    free(changes);
    return timeline->samples;
}
