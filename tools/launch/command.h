/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * command.h: the launcher's command line: what is to run where, which its table writes in its own
 * words. Pure text work, except that it looks at the number of cores; starts nothing.
 */
#ifndef OMPRMA_LAUNCH_COMMAND_H
#define OMPRMA_LAUNCH_COMMAND_H

#include "tools/launch/request.h"

struct launcher;

struct command {
    const struct launch *launch;
    const struct launcher *launcher;
    int workers;
    const char *mpirun;         /* the launcher's path */
    const char *worker;         /* path of omprma-worker */
    const char *worker_path;    /* their LD_LIBRARY_PATH; "": as it is */
    bool own_tmpdir;            /* the launcher has another TMPDIR than the workers shall have */
    const char *shell;          /* remote shell; NULL: the launcher's own choice */
    const char *inner_networks; /* see networks.h; NULL: there are none */
    const char *osc;            /* auto, ucx or rdma */
    bool counts;                /* workers say when they are up */
    const struct list *first;   /* what rank 0 is, as arguments */
    const char *option;         /* the workers' only argument; NULL: they have none */
    const struct list *more;    /* names of more variables for them; NULL: none */
};

/* How many workers a launch asks for. */
int command_workers(const struct launch *launch);

/* Appends the whole command line to `list`. */
void command_make(struct list *list, const struct command *command);

/* LD_LIBRARY_PATH for workers, malloced; NULL: they need none. */
char *command_library_path(const char *worker_path);

/* Do processes of a host share cores, or leave none to the kernel's network threads? */
bool command_crowded(const struct command *command);

#endif
