/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * clocks.h: workers' clocks compared with this side's, for the trace: the fastest of some round
 * trips, half of which the answer is taken to have needed.
 *
 * Thread: with runtime->lock held. Blocks: for some round trips to each worker.
 */
#ifndef OMPRMA_HOST_REPORT_CLOCKS_H
#define OMPRMA_HOST_REPORT_CLOCKS_H

#include "report/recording.h"

struct peer;
struct runtime;

/* How far the clock of a worker is ahead of this one; .within_ns is -1 where it does not answer. */
struct trace_clock clocks_look(const struct peer *peer);

/* Tells the trace, if there is one: once at the beginning, and once more before workers end, when
 * nothing is under way. */
void clocks_compare(struct runtime *runtime);

#endif
