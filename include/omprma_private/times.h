/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * times.h: when what a queue is told is done, for faces of omprma's own that have to tell others
 * (OMPT). It belongs to libomprma.so of the same version and is not installed. Times are those of
 * CLOCK_MONOTONIC here, in nanoseconds; 0: not yet, or not known.
 */
#ifndef OMPRMA_PRIVATE_TIMES_H
#define OMPRMA_PRIVATE_TIMES_H

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of one operation: data that is moved, or a kernel with small data on both sides of it. */
struct omprma_times {
    int64_t asked_ns, end_ns;   /* from the call until it is over, as far as this side sees */
    int64_t begin_ns;           /* data began to move; else as asked */
    int64_t ran_ns, ran_end_ns; /* when the worker ran it, between the two */
    bool kernel;
};

/* Where the times of what is appended to a queue go; NULL: nowhere. They are written until the
 * operation is over. It is called by the thread that appends, and must not call omprma. */
typedef struct omprma_times *omprma_times_function(const omprma_queue_t *queue);

/* Asks from now on. Before omprma_init(), or workers do not tell when they ran what. Once. Thread:
 * any. Blocks: no. */
OMPRMA_API void omprma_times_want(omprma_times_function *function);

#ifdef __cplusplus
}
#endif
#endif
