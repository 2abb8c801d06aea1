/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * launch.h: starts workers and one program beside them under mpirun, waits, and cleans up. Used by
 * omprma-run for the user's program, and by omprma-info and omprma-perf for themselves. Knows
 * nothing of the control protocol between program and workers.
 *
 * How a run is made
 *   omprma-run ─┬─ PROGRAM
 *               └─ keeper ── mpirun ─┬─ rank 0: hands its MPI environment to omprma-run, sleeps
 *                                    └─ rank 1..N: omprma-worker
 * PROGRAM is a plain child: it has the same terminal, files, folder and process group.
 * PROGRAM calls MPI_Init with rank 0's environment and so becomes rank 0 of the job, but mpirun
 * stands neither between it and its terminal nor between it and its exit status. The keeper ends
 * everything of the job, whoever dies first, and removes what it left.
 *
 * What the program finds in its environment, besides MPI's variables
 * - OMPRMA_WORKERS: the number of workers
 * - OMPRMA_INTERNAL_FD: write one byte to this file descriptor after MPI_Init, then close it and
 *   remove the variable, so that children do not inherit it
 * - OMPRMA_INTERNAL_SELF: set where the program is the launching tool itself
 * - OMPRMA_INTERNAL_TIMES: when omprma-run and the program began, for the program's statistics
 * - OPAL_OUTPUT_STDERR_FD, OMPRMA_INTERNAL_WORDS_FD: where Open MPI writes its own words instead of
 *   stderr, so that those about a peer that has died can be left out; to be kept from children, as
 *   is PMIX_MCA_plog if it is "^stdfd"
 * - OMPRMA_INTERNAL_FAULT: the program that names members of structures, see base/fault.h
 * - OMPRMA_INTERNAL_SOURCES_KEPT: "1": its runtime leaves what it copies to a GPU as it is
 *   until it waits
 * - OMPRMA_INTERNAL_LD_LIBRARY_PATH, OMPRMA_INTERNAL_LD_PRELOAD: the user's own values ("" for
 *   unset), for whoever wants to restore them
 */
#ifndef OMPRMA_LAUNCH_LAUNCH_H
#define OMPRMA_LAUNCH_LAUNCH_H

#include <stdbool.h>

#include "tools/launch/request.h"

/*
 * Runs it. Returns what the caller shall exit with: the program's own status (128 + signal when a
 * signal ended it; SIGINT is raised again, so that a shell stops too), or one of exit_status.h.
 * Failures are reported on stderr, one line each. Takes over
 * signals and waits for children: call it from main(), without threads. The settings (OMPRMA_DATA
 * and the others) must be in the environment by then.
 */
int launch_run(const struct launch *launch);

/* Gives back what options have made. */
void launch_clear(struct launch *launch);

/* In the first lines of main(): when mpirun started this executable for one of launch_run()'s
 * internal purposes, does that and returns true with the status to exit with. Else forgets a run
 * around us, unless we are its program. */
bool launch_internal(int argc, char **argv, int *status);

#endif
