/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report.h: what happened, for --stats. */
#ifndef OMPRMA_HOST_REPORT_REPORT_H
#define OMPRMA_HOST_REPORT_REPORT_H

#include <stdio.h>

#include "host/core/runtime.h"

/* Prints a table per device. With the lock held, or when nothing runs any more. */
void stats_print(struct runtime *runtime, FILE *out);

#endif
