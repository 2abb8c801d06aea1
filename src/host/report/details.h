/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* details.h: what --stats adds with -v: start-up, memory, messages, choices, in words. */
#ifndef OMPRMA_HOST_REPORT_DETAILS_H
#define OMPRMA_HOST_REPORT_DETAILS_H

#include "host/core/runtime.h"
#include "report/recording.h"

/* Adds them to what was recorded. With the lock held, or when nothing runs any more. */
void details_add(struct runtime *runtime, struct recording *recording);

#endif
