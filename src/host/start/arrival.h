/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * arrival.h: the progress line while omprma_init() waits for workers: how many are up, where
 * omprma-run counts them (coming.h), on a thread of its own because MPI waits inside its calls.
 */
#ifndef OMPRMA_HOST_START_ARRIVAL_H
#define OMPRMA_HOST_START_ARRIVAL_H

/* Begins to draw; ends, and the line is gone. One at a time. */
void arrival_begin(void);
void arrival_end(void);

#endif
