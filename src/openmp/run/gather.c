/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gather.c: Pieces that follow each other on the device are copied behind each other into one
 * buffer. A piece that lies elsewhere ends the submit, and the next one begins. What comes back is
 * the other way round: a retrieve of the range that all pieces lie in, with a list of parts that
 * says where each goes.
 */
#include "openmp/run/gather.h"

#include <string.h>

/* Most pieces are single variables. */
static void copy_small(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
}

static bool begin(struct gather *gather, const struct suballoc *part, omprma_addr_t to,
                  size_t bytes)
{
    if (!part->block || bytes > GATHER_BYTES)
        return false;
    gather->block = part->block;
    gather->begin = gather->end = to;
    return true;
}

/* What lies between the last piece and this one must be nobody's: it lies in the same range, or
 * its own part begins there. */
static bool follows(const struct gather *gather, const struct suballoc *part, omprma_addr_t to,
                    size_t bytes)
{
    return gather->block == part->block && to >= gather->end &&
           (to == gather->end || (to == part->device && part->begin <= gather->end)) &&
           to + bytes - gather->begin <= GATHER_BYTES;
}

bool gather_add(struct gather *gather, const struct suballoc *part, omprma_addr_t to,
                const void *from, size_t bytes)
{
    bool empty = gather->begin == gather->end;
    if (empty ? !begin(gather, part, to, bytes) : !follows(gather, part, to, bytes))
        return false;
    unsigned char *end = gather->data + (gather->end - gather->begin);
    size_t gap = to - gather->end; /* less than SUBALLOC_ALIGNMENT, see suballoc_take() */
    memset(end, 0, SUBALLOC_ALIGNMENT);
    copy_small(end + gap, from, bytes);
    gather->end = to + bytes;
    return true;
}

void gather_give(struct gather *gather, omprma_region_t *region)
{
    region->to = gather->begin;
    region->from = gather->data;
    region->bytes = gather->end - gather->begin;
    gather->end = gather->begin;
}

omprma_status_t gather_issue(struct gather *gather, omprma_queue_t *queue)
{
    omprma_region_t all;
    gather_give(gather, &all);
    return omprma_submit(queue, all.to, all.from, all.bytes);
}

/* What lies between pieces comes back for nothing, which takes less than another message. */
static bool lies_near(const struct scatter *scatter, omprma_addr_t begin, omprma_addr_t end)
{
    omprma_addr_t first = begin < scatter->begin ? begin : scatter->begin;
    omprma_addr_t last = end > scatter->end ? end : scatter->end;
    return last - first <= GATHER_BYTES;
}

bool scatter_add(struct scatter *scatter, const struct suballoc *part, void *to, omprma_addr_t from,
                 size_t bytes)
{
    omprma_addr_t end = from + bytes;
    if (!part->block || bytes > GATHER_BYTES || scatter->count == SCATTER_PARTS)
        return false;
    if (scatter->count == 0) {
        scatter->block = part->block;
        scatter->begin = from;
        scatter->end = end;
    }
    if (scatter->block != part->block || !lies_near(scatter, from, end))
        return false;
    if (from < scatter->begin)
        scatter->begin = from;
    if (end > scatter->end)
        scatter->end = end;
    scatter->parts[scatter->count++] = (omprma_part_t){to, from, bytes};
    return true;
}

void scatter_give(struct scatter *scatter, omprma_region_t *region)
{
    for (size_t i = 0; i < scatter->count; i++)
        scatter->parts[i].offset -= scatter->begin;
    region->back = scatter->begin;
    region->back_bytes = scatter->end - scatter->begin;
    region->parts = scatter->parts;
    region->part_count = scatter->count;
    scatter->count = 0;
}

omprma_status_t scatter_issue(struct scatter *scatter, omprma_queue_t *queue)
{
    omprma_region_t all;
    scatter_give(scatter, &all);
    return omprma_retrieve_parts(queue, all.back, all.back_bytes, all.parts, all.part_count);
}
