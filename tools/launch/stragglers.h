/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stragglers.h: the process that ends the programs of a run without MPI when omprma-run is killed:
 * what a script or a launcher has started is no child of ours, and would go on, or spin, without
 * its workers.
 */
#ifndef OMPRMA_LAUNCH_STRAGGLERS_H
#define OMPRMA_LAUNCH_STRAGGLERS_H

#include <sys/types.h>

/* Starts it. When this process dies it ends all processes that were started with `join` in their
 * environment: by SIGTERM, and after some seconds by SIGKILL. Returns -1 where there can be none,
 * with errno. */
pid_t stragglers_watch(const char *join);

/* The run has ended in order: what it left running may run. */
void stragglers_forget(pid_t watch);

#endif
