/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * start.h: start and end of the runtime.
 *
 * Thread: any. Blocks: until omprma has started.
 */
#ifndef OMPRMA_OPENMP_IMAGE_START_H
#define OMPRMA_OPENMP_IMAGE_START_H

/* Starts omprma at the first call. The number of devices; 0, after a line that says why, when there
 * are none, and once the process has begun to end. Asks libomp for nothing, for it calls this when
 * it starts. */
int devices_start(void);

#endif
