/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * timeline_arrows.c: a wait knows the number of the span that it was for. Where that was a transfer
 * of another device, which has brought what the wait's queue needs, an arrow leads from its end to
 * that of the wait. Readers look for the slice around an arrow's end, so both lie inside.
 */
#include <stdlib.h>

#include "report/timeline.h"

/* Slices of spans by their numbers; of two with one place the later one is there. */
static const struct slice **slices_by_number(const struct timeline *timeline)
{
    const struct slice **slices = calloc(RECORDING_SPANS, sizeof(struct slice *));

    for (uint32_t i = 0; i < timeline->slice_count && slices; i++)
        if (!timeline->slices[i].is_wait)
            slices[timeline->slices[i].span->number % RECORDING_SPANS] = &timeline->slices[i];
    return slices;
}

/* What the slice has waited for; NULL: nothing that has brought data. */
static const struct slice *source_of(const struct slice *slice, const struct slice *const *slices)
{
    uint32_t after = slice->is_wait ? 0 : slice->span->after;
    const struct slice *source = after ? slices[after % RECORDING_SPANS] : NULL;

    return source && source->span->number == after && source->span->with >= 0 &&
                   source->span->device != slice->span->device
               ? source
               : NULL;
}

/* Its last moment. */
static int64_t last_of(const struct slice *slice)
{
    return slice->end_ns > slice->begin_ns ? slice->end_ns - 1 : slice->begin_ns;
}

static void add_arrow(struct timeline *timeline, const struct slice *from, const struct slice *to)
{
    uint32_t number = timeline->arrow_count / 2 + 1;
    int64_t tail = last_of(from), head = last_of(to);

    if (head < tail)
        return; /* clocks of two hosts, compared too roughly */
    timeline->arrows[timeline->arrow_count++] = (struct arrow_end){tail, from, number, false};
    timeline->arrows[timeline->arrow_count++] = (struct arrow_end){head, to, number, true};
}

static int compare_ends(const void *a, const void *b)
{
    const struct arrow_end *x = a, *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    if (x->is_head != y->is_head)
        return x->is_head ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

bool timeline_draw(struct timeline *timeline)
{
    const struct slice **slices = slices_by_number(timeline);
    const struct slice *source;
    bool has_room;

    timeline->arrows = calloc(2 * (size_t)timeline->slice_count + 1, sizeof(*timeline->arrows));
    for (uint32_t i = 0; i < timeline->slice_count && slices && timeline->arrows; i++) {
        source = source_of(&timeline->slices[i], slices);
        if (source)
            add_arrow(timeline, source, &timeline->slices[i]);
    }
    if (timeline->arrows)
        qsort(timeline->arrows, timeline->arrow_count, sizeof(*timeline->arrows), compare_ends);
    has_room = slices && timeline->arrows;
    free(slices);
    return has_room;
}
