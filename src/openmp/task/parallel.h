/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * parallel.h: the parallel regions of the host that threads are in, and how many nowait constructs
 * of their tasks are not over. libomp's barriers, and its ends of regions, do not wait for tasks
 * with an event that were made by explicit tasks which have ended. So who passes one looks here.
 *
 * A thread that comes to a region by other ways than parallel_run() (if(0), code of gcc on libomp)
 * is in none here.
 *
 * Thread: any. Blocks: no, but for the body.
 */
#ifndef OMPRMA_OPENMP_TASK_PARALLEL_H
#define OMPRMA_OPENMP_TASK_PARALLEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "openmp/abi/libomp.h"

/* Where a thread is: in which region, 0: in none, how deep that one is among those around it, and
 * behind how many of its barriers. */
struct parallel_place {
    uint32_t region;
    int32_t level;
    uint32_t passed;
};

/* A region, for the thread that begins and ends it. */
struct parallel {
    invoke_t *invoke; /* libomp's, which calls the body with the arguments */
    microtask_t *body;
    int32_t count;
    void **arguments;
    uint32_t region;
    bool shares; /* its counts with another one: there are too many regions */
    struct parallel_place outer;
};

/* The calling thread begins a region, of which the first four fields are set. */
void parallel_begin(struct parallel *parallel);

/* The calling thread of the region runs the body: it has this number in libomp, and that one in its
 * team. */
void parallel_run(const struct parallel *parallel, int32_t *thread, int32_t *number);

/* It is through with it. It may still run tasks of the region, but is in none from now on. */
void parallel_leave(void);

/* All threads have come to its end, and none of its constructs is left. */
void parallel_end(const struct parallel *parallel);

/* Those of the calling thread's region since the last barrier. NULL: it is in none. */
_Atomic int32_t *parallel_count_here(void);

/* The thread has passed a barrier of its region. */
void parallel_pass(void);

#endif
