/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sigabrt.h: over UCX, MPI ends a program by abort() when a worker that it copies from or to has
 * died. omprma-run cannot see who has called that: the program may have, by its own fault.
 */
#ifndef OMPRMA_HOST_START_SIGABRT_H
#define OMPRMA_HOST_START_SIGABRT_H

#include "host/core/runtime.h"

/* From here on SIGABRT tells omprma-run whether a worker has died by then, and does what it did
 * before. A program that has a handler of its own keeps it. */
void sigabrt_explain(struct runtime *runtime);

/* Before the runtime is freed. */
void sigabrt_end(void);

#endif
