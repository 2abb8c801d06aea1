/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * team.h: the OpenMP library of a device's images, when the cores that they may use change. Knows
 * nothing of places.
 *
 * Thread: the one that runs the kernels, between them. Blocks: team_resize(), while threads start.
 */
#ifndef OMPRMA_WORKER_TEAM_H
#define OMPRMA_WORKER_TEAM_H

/* Regions that do not say take so many threads from now on, as OMP_NUM_THREADS in the environment
 * says by now, and all of them are there. Does nothing if `owner` has no image that needs libomp.
 */
void team_resize(const void *owner, int threads);

/* Parallel regions of this thread have at most so many threads, and its omp_get_thread_limit() says
 * so, until team_unlimit(), which is given what this returns. NULL, and nothing is done, where no
 * image needs libomp, or one before LLVM 18. */
void *team_limit(const void *owner, int threads);
void team_unlimit(const void *owner, void *limited);

/* Threads that libomp makes from now on, also in the middle of a kernel, have the cores of the
 * thread that makes them, and not those that it found when it started; but where the user binds
 * threads by libomp's own variables. Before libomp starts. */
void team_inherit_cores(void);

#endif
