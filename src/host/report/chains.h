/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * chains.h: finds a run's critical path, as an observer of operations (observer.h): from the
 * beginning to the end a chain of kernels, transfers and work of the program, each of which could
 * not begin before the one in front of it was over. So all of a run's time lies on it, and each
 * part is what the run waited for then.
 *
 * In front of a kernel or a transfer is what ended last of these: what is before it in its queue,
 * what that queue has waited for, the last kernel of its device, and the call that appended it. In
 * front of what the program does is what ended last while one of its threads waited for anything.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_REPORT_CHAINS_H
#define OMPRMA_HOST_REPORT_CHAINS_H

#include "host/core/runtime.h"
#include "host/report/recorded_names.h"

struct chains;

/* Follows what happens from now on, for the recording of these names, whose origin is now. NULL: no
 * memory. */
struct chains *chains_open(struct runtime *runtime, struct recorded_names *names);

/* The program ends. NULL is allowed. */
void chains_close(struct runtime *runtime, struct chains *chains);

#endif
