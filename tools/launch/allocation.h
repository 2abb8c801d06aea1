/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * allocation.h: what a batch system has granted to whoever calls us: hosts, and how many workers on
 * each. Knows Slurm (salloc, sbatch) and the node file of PBS and its relatives by the variables
 * that they set.
 */
#ifndef OMPRMA_LAUNCH_ALLOCATION_H
#define OMPRMA_LAUNCH_ALLOCATION_H

#include "tools/launch/request.h"

/* What starts commands on the hosts of a Slurm job, instead of ssh. */
#define ALLOCATION_SLURM_SHELL "srun"

/*
 * Inside an allocation, and if the user has named no hosts: fills launch->hosts with those granted,
 * one worker for each task that was asked for, or one per host; launch->workers, if given, are
 * spread evenly over them. An allocation that is this host only names none. Blocks: while scontrol
 * runs. Errors: CONFIG (what the batch system says makes no sense).
 */
omprma_status_t allocation_take(struct launch *launch);

/* Adds to a command line what has srun run a command on one host of the job beside what runs there
 * already, with all that the job has there. The command is text for a shell. */
void allocation_srun(struct list *command, const char *host, const char *text);

#endif
