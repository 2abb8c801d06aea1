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
