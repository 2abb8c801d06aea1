/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * quick.h: spares Open MPI work at its start and end that a job of ours has no use for, and that
 * takes longer than everything else together: a look at hardware that is not there, a search for
 * I/O devices by each process, waiting for delayed acknowledgements of TCP. What the user has set
 * stays. Knows nothing of MPI's calls.
 */
#ifndef OMPRMA_CONTROL_LIBRARY_QUICK_H
#define OMPRMA_CONTROL_LIBRARY_QUICK_H

#include <stdbool.h>
#include <stddef.h>

/* An environment: the process's own, or one that is made for another. `get` returns NULL for what
 * is not set; NULL for `set` removes it. */
struct quick_environment {
    const char *(*get)(void *data, const char *name);
    void (*set)(void *data, const char *name, const char *value);
    void *data;
};

/* Sets what is not set, or empty. */
void quick_default(const struct quick_environment *environment, const char *name,
                   const char *value);

/* The calling process's own. To be changed only while it has one thread. */
extern const struct quick_environment quick_own;

/* For a process that will call MPI_Init. */
void quick_rank(const struct quick_environment *environment);

/* For a launcher whose processes are all on this host: near which I/O device one runs matters only
 * for networks. Workers inherit it, and take it back when they have found their own place. */
void quick_hwloc(const struct quick_environment *environment);
void quick_forget_hwloc(void);

/* After MPI_Init: the connection to mpirun sends at once. Two messages in a row would else wait for
 * 40 ms, as those that MPI_Finalize sends. Any thread; does nothing without such a connection. */
void quick_connection(void);

/* What the site's and the user's file of Open MPI say of a parameter; "": nothing. A value that is
 * too long is cut. False: it may read other files. */
bool quick_setting(const struct quick_environment *environment, const char *name, char *value,
                   size_t room);

/* For tests: the value that parameter mtl shall have when `files` (NULL-terminated, later ones win)
 * hold Open MPI's settings; false: it stays as it is. */
bool quick_mtl(const char *const *files, char *value, size_t room);

/* For a process that has left MPI, or could not enter it: tells hydra that it may end, and MPICH
 * that hydra knows. From 4.1 on, MPICH says so itself in the C library's exit handlers, but not
 * every process has those, and hydra may have ended by then. Else hydra takes the end for a
 * failure, and kills the others. Does nothing where that was said, or another launcher has started
 * this process. */
void quick_end(void);

#endif
