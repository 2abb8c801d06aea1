/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * program.h: starts the program as a plain child: same terminal, process group, files, folder and
 * signal settings as without omprma-run. Knows nothing of running launchers.
 */
#ifndef OMPRMA_LAUNCH_PROGRAM_H
#define OMPRMA_LAUNCH_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <omprma/omprma.h>

#include "tools/launch/list.h"
#include "tools/launch/llvm.h"

struct launcher;

struct program {
    const struct launcher *launcher; /* NULL: the run goes without MPI */
    const char *launcher_name;       /* with its version; NULL likewise */
    const char *join; /* how it finds its workers then; NULL: it is rank 0 of MPI's */
    const char *path;
    char **argv;
    const struct llvm_plan *plan; /* what to put in front of its library paths */
    bool offloading;
    bool continues; /* the run goes on when a worker is lost */
    int workers;
    int64_t launch_ns; /* when omprma-run began */
    bool alone;        /* they are all on this host */
    int coming;        /* descriptor for the program, see coming.h; -1: none */
    int with_us;       /* the signal that it gets when this process is killed */
    bool outer_job;    /* it is a launcher, which the variables of the one around us are not for */
};

/*
 * `mpi` holds MPI's variables, each string ended by a zero. `*report` becomes readable when the
 * program wrote its byte (see launch.h), `*words` when MPI has written something in the
 * program; -1: it writes to the program's stderr, because the user wants it elsewhere. The program
 * gets its signal when the calling process dies. Errors: CONFIG (cannot be executed), HOST_MEMORY.
 */
omprma_status_t program_start(const struct program *program, const char *mpi, size_t bytes,
                              pid_t *pid, int *report, int *words);

/* The environment variables that it gets on top of the caller's and MPI's. */
void program_environment(const struct program *program, struct list *environment);

/* Is this process the program of a launch_run()? For tools that launch themselves. */
bool program_inside(void);

#endif
