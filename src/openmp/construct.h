/*
 * construct.h: what all entry points of constructs share: which device, one work, and when it is
 * waited for.
 *
 * Thread: any. Blocks: until the construct is complete, unless it is a nowait one whose task libomp
 * goes on asking about.
 */
#ifndef OMPRMA_OPENMP_CONSTRUCT_H
#define OMPRMA_OPENMP_CONSTRUCT_H

#include "openmp/region.h"

enum construct_kind { CONSTRUCT_REGION, CONSTRUCT_ENTER, CONSTRUCT_LEAVE, CONSTRUCT_UPDATE };

struct construct {
    enum construct_kind kind;
    const struct location *where;
    int64_t device;
    struct maps maps;
    struct region_call call; /* of a region */
    bool nowait;
};

/* Does it, and returns what the entry point returns. */
int construct_run(const struct construct *construct);

/* Of clauses num_teams and thread_limit; numbers that are not positive leave the choice to the
 * device. */
omprma_geometry_t geometry_of(int32_t teams, int32_t threads);

/* Where libomp keeps the handle of the calling thread's nowait task. NULL: it has none, or cannot
 * be relied upon. */
void **nowait_place(void);

#endif
