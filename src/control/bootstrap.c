/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bootstrap.c: the hub receives from each rank in order, and sends to each in order.
 */
#include "control/bootstrap.h"

#include <string.h>

omprma_status_t bootstrap_gather(const struct bootstrap *b, int hub, const void *mine, void *all,
                                 size_t bytes)
{
    omprma_status_t status = OMPRMA_OK;

    if (b->rank != hub)
        return b->send(mine, bytes, hub);
    memcpy((char *)all + (size_t)hub * bytes, mine, bytes);
    for (int rank = 0; rank < b->size && status == OMPRMA_OK; rank++)
        if (rank != hub)
            status = b->receive((char *)all + (size_t)rank * bytes, bytes, rank);
    return status;
}

omprma_status_t bootstrap_collect(const struct bootstrap *b, int hub, const void *mine,
                                  size_t bytes, void *const *all, const size_t *all_bytes)
{
    omprma_status_t status = OMPRMA_OK;

    if (b->rank != hub)
        return b->send(mine, bytes, hub);
    for (int rank = 0; rank < b->size && status == OMPRMA_OK; rank++)
        if (rank != hub)
            status = b->receive(all[rank], all_bytes[rank], rank);
    return status;
}

/* `stride` 0 gives the same to everybody. */
static omprma_status_t deliver(const struct bootstrap *b, int hub, const char *all, size_t stride,
                               size_t bytes)
{
    omprma_status_t status = OMPRMA_OK;

    for (int rank = 0; rank < b->size && status == OMPRMA_OK; rank++)
        if (rank != hub)
            status = b->send(all + (size_t)rank * stride, bytes, rank);
    return status;
}

omprma_status_t bootstrap_scatter(const struct bootstrap *b, int hub, const void *all, void *mine,
                                  size_t bytes)
{
    if (b->rank != hub)
        return b->receive(mine, bytes, hub);
    memcpy(mine, (const char *)all + (size_t)hub * bytes, bytes);
    return deliver(b, hub, all, bytes, bytes);
}

omprma_status_t bootstrap_spread(const struct bootstrap *b, int hub, void *data, size_t bytes)
{
    return b->rank == hub ? deliver(b, hub, data, 0, bytes) : b->receive(data, bytes, hub);
}

omprma_status_t bootstrap_any(const struct bootstrap *b, int hub, bool mine, bool *any)
{
    omprma_status_t status = OMPRMA_OK;

    *any = mine;
    if (b->rank != hub)
        status = b->send(&mine, sizeof(mine), hub);
    for (int rank = 0; b->rank == hub && rank < b->size && status == OMPRMA_OK; rank++) {
        bool other = false;

        if (rank != hub)
            status = b->receive(&other, sizeof(other), rank);
        *any |= other;
    }
    return status == OMPRMA_OK ? bootstrap_spread(b, hub, any, sizeof(*any)) : status;
}
