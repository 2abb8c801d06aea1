/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sigpipe.h: MPI that writes to a connection whose other end has died must not end a program
 * that goes on without that worker: Open MPI's TCP leaves SIGPIPE to the process.
 */
#ifndef OMPRMA_HOST_START_SIGPIPE_H
#define OMPRMA_HOST_START_SIGPIPE_H

#include "host/core/runtime.h"

/* From here on SIGPIPE does nothing to a thread that holds the runtime's lock, inside of which all
 * calls of MPI are, and to others what it did before. A program that has a handler of its own keeps
 * it. */
void sigpipe_spare(struct runtime *runtime);

/* Before the runtime is freed. */
void sigpipe_end(void);

#endif
