/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fault.h: a crash in a region, in words of the program: which mapped variable an address of the
 * host lies in that the region has used.
 *
 * Thread: any, without the lock of any device. Blocks: for those.
 */
#ifndef OMPRMA_OPENMP_RUN_FAULT_H
#define OMPRMA_OPENMP_RUN_FAULT_H

#include <stdbool.h>

struct crash;

/* As report_status(), for how a construct has ended, all but its cleaning up. */
bool fault_report(const struct crash *crash, int status);

#endif
