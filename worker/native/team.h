/*
 * team.h: the OpenMP library of a device's images, when the cores that they may use change. Knows
 * nothing of places.
 *
 * Thread: the one that runs the kernels, between them. Blocks: while threads start.
 */
#ifndef OMPRMA_WORKER_TEAM_H
#define OMPRMA_WORKER_TEAM_H

/* Regions that do not say take so many threads from now on, as OMP_NUM_THREADS in the environment
 * says by now, and all of them are there. Does nothing if `owner` has no image that needs libomp.
 */
void team_resize(const void *owner, int threads);

#endif
