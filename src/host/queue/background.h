/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * background.h: progress while nobody waits: omprma_progress_thread() and OMPRMA_PROGRESS_THREAD
 * ask for a thread that makes it, omprma_progress() makes some at once.
 *
 * Thread: any, without runtime->lock.
 */
#ifndef OMPRMA_HOST_QUEUE_BACKGROUND_H
#define OMPRMA_HOST_QUEUE_BACKGROUND_H

#include "host/core/runtime.h"

/* Asks for the thread (1), or no longer (-1). It is made when it is asked for the first time.
 * Blocks: no. Errors: HOST_MEMORY (no thread can be made; it is not asked for then). */
omprma_status_t background_want(struct runtime *runtime, int change);

/* Ends the thread for good. Blocks: until it has ended. */
void background_end(struct runtime *runtime);

#endif
