/* parts.h: omprma_retrieve_parts() by its parts, for stand-ins of libomprma. */
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

#endif
