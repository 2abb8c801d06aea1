/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * command.h: the mpirun command line. Pure text work, except that it looks at the number of cores;
 * starts nothing.
 */
#ifndef OMPRMA_LAUNCH_COMMAND_H
#define OMPRMA_LAUNCH_COMMAND_H

#include "tools/launch/launch.h"

struct command {
    const struct launch *launch;
    int workers;
    const char *mpirun;       /* path */
    const char *worker;       /* path of omprma-worker */
    const char *worker_path;  /* their LD_LIBRARY_PATH; "": as it is */
    bool own_tmpdir;          /* mpirun runs with another TMPDIR than the workers shall have */
    const char *agent;        /* remote shell; NULL: mpirun's own choice */
    const char *osc;          /* auto, ucx or rdma */
    bool counts;              /* workers say when they are up */
    const struct list *first; /* what rank 0 is, as arguments */
};

/* How many workers a launch asks for. */
int command_workers(const struct launch *launch);

/* Appends the whole command line to `list`. */
void command_make(struct list *list, const struct command *command);

/* In the child that becomes mpirun: what the environment and Open MPI's files say of where
 * processes go does not hold, because that is the user's own choice here; arguments for mpirun
 * still do. */
void command_clear_placement(void);

/* True when the user set this MCA parameter, by OMPI_MCA_<name> or in --mpi-arg; `*value` is it. */
bool command_mca_set(const struct launch *launch, const char *name, const char **value);

#endif
