/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * phase.h: a limit on each step of omprma_init(), and on leaving MPI. Where packets between hosts
 * vanish, MPI waits for ever and nobody can call it off.
 */
#ifndef OMPRMA_HOST_START_PHASE_H
#define OMPRMA_HOST_START_PHASE_H

#include "base/deadline.h"

struct phase {
    const char *name, *advice, *step;
    int64_t limit_ns;
    struct deadline deadline;
};

/* The process ends when the step takes too long. `name` and `step` say what is being done, `advice`
 * what may help; all must outlive the phase. A limit of 0 is none. */
void phase_begin(struct phase *phase, const char *name, const char *advice, const char *step,
                 int64_t limit_ns);

/* The step before is done, this one begins. */
void phase_next(struct phase *phase, const char *step, int64_t limit_ns);

void phase_end(struct phase *phase);

#endif
