/*
 * construct.h: what all entry points of constructs share: which device, one work, and when it is
 * waited for.
 *
 * Thread: any. Blocks: until the construct is complete, unless it is a nowait one whose task libomp
 * goes on asking about.
 */
#ifndef OMPRMA_OPENMP_CONSTRUCT_H
#define OMPRMA_OPENMP_CONSTRUCT_H

#include "openmp/maps.h"

enum construct_kind { CONSTRUCT_REGION, CONSTRUCT_ENTER, CONSTRUCT_LEAVE, CONSTRUCT_UPDATE };

struct construct {
    enum construct_kind kind;
    const struct location *where;
    int64_t device;
    struct maps maps;
    const void *host_id; /* of a region */
    size_t leading;      /* words before a region's arguments */
    bool nowait;
};

/* Does it, and returns what the entry point returns. */
int construct_run(const struct construct *construct);

/* Where libomp keeps the handle of the calling thread's nowait task. NULL: it has none, or cannot
 * be relied upon. */
void **nowait_place(void);

#endif
