/* gather.c: see gather.h. */
#include "openmp/gather.h"

#include <string.h>

static bool begin(struct gather *gather, const struct share *share, omprma_addr_t to, size_t bytes)
{
    if (!share->block || bytes > GATHER_BYTES)
        return false;
    gather->block = share->block;
    gather->begin = to;
    gather->end = to + bytes;
    return true;
}

/* What lies between the last piece and this one must be nobody's. */
static bool extend(struct gather *gather, const struct share *share, omprma_addr_t to, size_t bytes)
{
    bool next = to == gather->end ||
                (to == share->device && share->begin <= gather->end && to > gather->end);
    if (gather->block != share->block || !next || to + bytes - gather->begin > GATHER_BYTES)
        return false;
    memset(gather->data + (gather->end - gather->begin), 0, to - gather->end);
    gather->end = to + bytes;
    return true;
}

bool gather_add(struct gather *gather, const struct share *share, omprma_addr_t to,
                const void *from, size_t bytes)
{
    bool empty = gather->begin == gather->end;
    if (empty ? !begin(gather, share, to, bytes) : !extend(gather, share, to, bytes))
        return false;
    memcpy(gather->data + (to - gather->begin), from, bytes);
    return true;
}

omprma_status_t gather_issue(struct gather *gather, omprma_queue_t *queue)
{
    size_t bytes = gather->end - gather->begin;
    gather->end = gather->begin;
    return omprma_submit(queue, gather->begin, gather->data, bytes);
}
