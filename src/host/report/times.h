/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * times.h: an observer that notes when operations began and ended, for a face that has asked by
 * omprma_times_want(), with the times of workers brought over to this side's clock.
 *
 * Thread: with runtime->lock held, but times_wanted().
 */
#ifndef OMPRMA_HOST_REPORT_TIMES_H
#define OMPRMA_HOST_REPORT_TIMES_H

#include "host/core/runtime.h"

/* Has a face asked? Any thread. */
bool times_wanted(void);

/* Compares clocks, and begins to note, if somebody has asked. Errors: HOST_MEMORY. Blocks: for some
 * round trips to each worker. */
omprma_status_t times_open(struct runtime *runtime);
void times_close(struct runtime *runtime);

#endif
