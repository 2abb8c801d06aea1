/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * construct.h: what all entry points of constructs share: which device, one work, and waiting for
 * it.
 *
 * Thread: any. Blocks: until the construct is complete. nowait constructs, which libomp runs as
 * tasks, block only where they cannot be left in flight, see task.h.
 */
#ifndef OMPRMA_OPENMP_ENTRY_CONSTRUCT_H
#define OMPRMA_OPENMP_ENTRY_CONSTRUCT_H

#include "openmp/entry/region.h"

struct construct {
    enum construct_kind kind;
    const struct location *where;
    int64_t device;
    bool nowait;
    const void *code; /* where the program goes on after its call */
    struct maps maps;
    struct region_call call; /* of a region */
};

/* Does it, and returns what the entry point returns. */
int construct_run(struct construct *construct);

#endif
