/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * supervise.h: watches a run from mpirun's start to its end: starts the program when rank 0's
 * environment arrives, passes signals on, and decides how the run ended. Knows nothing of LLVM.
 */
#ifndef OMPRMA_LAUNCH_SUPERVISE_H
#define OMPRMA_LAUNCH_SUPERVISE_H

#include "tools/launch/program.h"

/* `command` is mpirun's command line, `worker` the path of the workers' executable in it, `folder`
 * is removed at the end, `listener` is closed. Returns as launch_run() does. */
int supervise(const struct program *program, const struct list *command, const char *worker,
              const char *folder, int listener);

#endif
