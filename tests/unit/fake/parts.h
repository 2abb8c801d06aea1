/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* parts.h: calls of omprma.h that are made of others, by those, for stand-ins of libomprma. */
#ifndef OMPRMA_TESTS_PARTS_H
#define OMPRMA_TESTS_PARTS_H

#include <stdlib.h>

#include <omprma/omprma.h>

#include "base/range.h"

omprma_status_t omprma_retrieve_parts(omprma_queue_t *queue, omprma_addr_t from, size_t bytes,
                                      const omprma_part_t *parts, size_t count)
{
    omprma_status_t status = OMPRMA_OK;

    for (size_t i = 0; i < count && status == OMPRMA_OK; i++) {
        if (!range_fits(parts[i].offset, parts[i].bytes, bytes))
            abort();
        status = omprma_retrieve(queue, parts[i].to, from + parts[i].offset, parts[i].bytes);
    }
    return status;
}

/* Which way runs go. */
enum parts_way { PARTS_SUBMIT, PARTS_RETRIEVE, PARTS_EXCHANGE };

static omprma_status_t parts_move(enum parts_way way, omprma_queue_t *queue, uint64_t to,
                                  uint64_t from, int to_device, size_t bytes)
{
    if (way == PARTS_SUBMIT)
        return omprma_submit(queue, to, (const void *)(uintptr_t)from, bytes);
    if (way == PARTS_RETRIEVE)
        return omprma_retrieve(queue, (void *)(uintptr_t)to, from, bytes);
    return omprma_exchange(queue, from, to_device, to, bytes);
}

static omprma_status_t parts_move_runs(enum parts_way way, omprma_queue_t *queue, uint64_t to,
                                       uint64_t from, int to_device, const omprma_shape_t *shape)
{
    size_t rows = shape->count[0] * shape->count[1], runs = rows * shape->count[2];
    omprma_status_t status = OMPRMA_OK;

    for (size_t i = 0; i < runs && status == OMPRMA_OK; i++) {
        size_t at[] = {i % shape->count[0], i % rows / shape->count[0], i / rows};
        uint64_t there = to, here = from;

        for (int k = 0; k < OMPRMA_SHAPE_RANK; k++) {
            there += at[k] * shape->to_stride[k];
            here += at[k] * shape->from_stride[k];
        }
        status = parts_move(way, queue, there, here, to_device, shape->bytes);
    }
    return status;
}

omprma_status_t omprma_submit_strided(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                                      const omprma_shape_t *shape)
{
    return parts_move_runs(PARTS_SUBMIT, queue, to, (uint64_t)(uintptr_t)from, 0, shape);
}

omprma_status_t omprma_retrieve_strided(omprma_queue_t *queue, void *to, omprma_addr_t from,
                                        const omprma_shape_t *shape)
{
    return parts_move_runs(PARTS_RETRIEVE, queue, (uint64_t)(uintptr_t)to, from, 0, shape);
}

omprma_status_t omprma_exchange_strided(omprma_queue_t *queue, omprma_addr_t from, int to_device,
                                        omprma_addr_t to, const omprma_shape_t *shape)
{
    return parts_move_runs(PARTS_EXCHANGE, queue, to, from, to_device, shape);
}

omprma_status_t omprma_region(omprma_queue_t *queue, const omprma_region_t *region)
{
    omprma_status_t status = OMPRMA_OK;

    if (region->bytes > 0)
        status = omprma_submit(queue, region->to, region->from, region->bytes);
    if (status == OMPRMA_OK)
        status = (region->context ? omprma_launch_context : omprma_launch)(
            queue, region->kernel, region->geometry, region->arguments, region->count);
    if (status == OMPRMA_OK && region->back_bytes > 0)
        status = omprma_retrieve_parts(queue, region->back, region->back_bytes, region->parts,
                                       region->part_count);
    return status;
}

omprma_status_t omprma_region_wait(omprma_queue_t *queue, const omprma_region_t *region,
                                   void (*issued)(void *data), void *data)
{
    omprma_status_t ended, status = omprma_region(queue, region);

    if (issued)
        issued(data);
    ended = omprma_queue_synchronize(queue);
    return ended != OMPRMA_OK ? ended : status;
}

#endif
