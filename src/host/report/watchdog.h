/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watchdog.h: sees that nothing moves though it should, of all that can be called off: workers that
 * are silent (peer_watch()), then a standstill though nobody computes. That is a defect, of ours or
 * of MPI: without this the program would hang.
 *
 * While some thread waits, or asks, it looks whether anything moves: operations are issued or end,
 * data gets on, workers run kernels or move data among each other (they are asked, and say so in
 * `alive`). Only time that is spent waiting counts, so a program that computes meanwhile, or was
 * suspended, is in no hurry. When nothing has moved for OMPRMA_TIMEOUT, the queues that somebody
 * wants something of are described on stderr and fail. Workers that do not answer are no
 * standstill, nor is data that does not get from one worker to another: they tell (`stalled`). When
 * the program has ended, and kernels run on, it says once for which the end waits.
 *
 * Thread: with runtime->lock held. Blocks: no.
 */
#ifndef OMPRMA_HOST_REPORT_WATCHDOG_H
#define OMPRMA_HOST_REPORT_WATCHDOG_H

#include "host/core/runtime.h"

/* A look at everything, by a thread that waits, or that asks and would come again. May lose workers
 * and fail queues. */
void watchdog_look(struct runtime *runtime, int64_t now_ns);

/* The part of it that looks for a standstill: so much more time has been spent waiting. */
void watchdog_wait(struct runtime *runtime, int64_t waited_ns);

#endif
