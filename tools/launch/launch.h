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

#include "tools/launch/hosts.h"
#include "tools/launch/list.h"

struct launch {
    int workers;          /* 0: one per slot of `hosts`, 1 without hosts */
    int per_host;         /* --workers-per-host; 0: not given */
    struct hosts hosts;   /* empty: workers run on this host */
    bool slurm;           /* inside a Slurm job: other hosts are reached by srun */
    const char *llvm;     /* "auto", a version or a folder */
    int runtime;          /* enum config_runtime */
    bool by_node;         /* OMPRMA_MAP_BY: workers that follow each other go to different hosts */
    bool continues;       /* OMPRMA_ON_LOSS: the run goes on when a worker is lost */
    struct list mpi_args; /* more arguments for mpirun */
    struct list exports;  /* names of more variables for workers on other hosts */
    char **argv;          /* the program and its arguments; NULL-terminated */
    int gpus;             /* kinds of GPU that the program wants, whatever can be seen in it */
    const char *gpus_by;  /* the option that has said so */
    int transport;        /* enum config_transport */
    bool offloading;      /* find libomptarget and make it load the plugin */
    bool dry_run;         /* only print command lines that do the same */
};

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

/* Is this process the program of a launch_run()? For tools that launch themselves. */
bool launch_inside(void);

#endif
