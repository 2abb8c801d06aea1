/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * graph.c: a region stands one link behind the longest chain of those that it depends on: whoever
 * has written what it uses, or has read what it writes. The program's own waits do not count.
 */
#include "openmp/place/graph.h"

#include <omprma_private/notes.h>

#include "openmp/device/remains.h"

static struct {
    uint64_t regions, longest, least_bytes;
} graph;

static uint64_t max_of(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

void graph_enter(const struct work *work, struct mapped *mapped)
{
    mapped->vertex = (struct vertex){.had = site_bit(work->site)};
    if (work->computes)
        mapped->vertex.seat = mapped->vertex.had;
}

/* Which links end at the region? */
static uint64_t chain_before(const struct uses *uses)
{
    uint64_t before = 0;
    for (size_t i = 0; i < uses->count; i++) {
        const struct vertex *vertex = &uses->list[i].range->vertex;
        before = max_of(before, vertex->written);
        if (uses->list[i].writes)
            before = max_of(before, vertex->read);
    }
    return before;
}

/* Where the region belongs: where the largest range has its seat that it writes; if none has one,
 * where it is. */
static uint64_t seat_of(const struct work *work)
{
    uint64_t seat = site_bit(work->site);
    size_t most = 0;
    for (size_t i = 0; i < work->uses.count; i++) {
        const struct use *use = &work->uses.list[i];
        size_t bytes = use->range->end - use->range->begin;
        if (!use->writes || !use->range->vertex.seat || bytes <= most)
            continue;
        most = bytes;
        seat = use->range->vertex.seat;
    }
    return seat;
}

static void vertex_use(struct vertex *vertex, size_t bytes, uint64_t seat, bool writes)
{
    if (vertex->had && !(vertex->had & seat)) /* what nobody has has no value yet */
        graph.least_bytes += bytes;
    vertex->had = writes ? seat : vertex->had | seat;
    if (writes && !vertex->seat)
        vertex->seat = seat;
}

static void vertex_link(struct vertex *vertex, uint64_t link, bool writes)
{
    if (writes)
        vertex->written = link;
    vertex->read = writes ? link : max_of(vertex->read, link);
}

void graph_note(const struct work *work)
{
    uint64_t link = chain_before(&work->uses) + 1, seat = seat_of(work);
    for (size_t i = 0; i < work->uses.count; i++) {
        struct mapped *range = work->uses.list[i].range;
        bool writes = work->uses.list[i].writes;
        if (range->variable)
            continue;
        vertex_use(&range->vertex, range->end - range->begin, seat, writes);
        vertex_link(&range->vertex, link, writes);
    }
    graph.regions++;
    graph.longest = max_of(graph.longest, link);
    omprma_note_graph(graph.regions, graph.longest, graph.least_bytes);
}
