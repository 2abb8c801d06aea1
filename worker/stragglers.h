/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stragglers.h: ends the programs of a run whose omprma-run was killed: what a script or a launcher
 * has started is nobody's child then, and would go on, or spin, without its workers.
 */
#ifndef OMPRMA_WORKER_STRAGGLERS_H
#define OMPRMA_WORKER_STRAGGLERS_H

/* Sends SIGTERM to all processes of this host that were started with these digits in their
 * DIRECT_JOIN_VARIABLE: a launcher that is told to end ends its processes on other hosts, too. */
void stragglers_tell(const char *digits);

/* Waits for their ends, and kills those that take longer. Blocks: for some seconds at most. */
void stragglers_end(const char *digits);

#endif
