/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * launcher.h: what starts processes of an MPI library, as one table for each kind: how its command
 * line is written, what it and the program find in their environments, how it says things. All that
 * differs between launchers is behind this table; no other file knows it.
 */
#ifndef OMPRMA_LAUNCH_LAUNCHER_H
#define OMPRMA_LAUNCH_LAUNCHER_H

#include <stdbool.h>

#include <omprma/omprma.h>

#include "control/library/library.h"
#include "control/library/quick.h"
#include "tools/launch/list.h"
#include "tools/launch/verdict.h"

struct command;
struct launch;

struct launcher {
    enum library_kind library; /* whose processes it starts */
    const char *sign;          /* what stands before the version that it says it is */
    int first, end;            /* versions that this is for, as in struct library; end: none is */
    const struct dialect *dialect; /* its messages, and its name */

    /* Appends the whole command line. `variables` are for the workers: NAME as it is here, or
     * NAME=VALUE. */
    void (*write)(struct list *line, const struct command *command, const struct list *variables);

    /* The remote shell that the user's settings or arguments name, as words with blanks between;
     * NULL: none. */
    const char *(*users_shell)(const struct launch *launch);

    /* What else belongs into the launcher's environment. `alone`: all processes of the job are on
     * this host. */
    void (*prepare)(const struct quick_environment *environment, bool alone);

    /* What else belongs into the program's, which has the variables of rank 0 by then. */
    void (*program)(const struct quick_environment *environment);

    /* Has processes on other hosts get these variables of the program's environment, where `line`
     * is the user's own command line for this launcher. NULL: they get all by themselves. */
    void (*hand_on)(struct list *line, const struct list *names);

    /* The option by which it marks the lines that its processes print; NULL-terminated words. */
    const char *const *mark_lines;

    const char *const *variables; /* how the names of rank 0's variables begin; NULL-terminated */
    const char *words_variable;   /* with the number of the descriptor to which the library writes
                                   * its words instead of stderr; NULL: it cannot */
    int lost_status[2]; /* with which MPI ends a process whose launcher is gone; 0: none */
    int lost_signal;    /* by which it ends one whose peer is gone; 0: by none */
    int file_bytes;     /* of the largest file that the library makes, in shared memory, and more */
    int name_most;   /* characters of this host's name with which it does not end; 0: all can be */
    bool hears_ends; /* it may end the job by the end of the program's connection, before that
                      * process can be waited for */
    bool starts_early; /* processes here, before all hosts are reached */
    bool cuts_names;   /* names of hosts hold up to the first dot only */
};

extern const struct launcher launcher_openmpi4, launcher_openmpi5, launcher_hydra;

/* Which launcher says this when it is asked for its version; NULL: none that is known. `*version`
 * as in struct library; `*name`, of at least LAUNCHER_NAME_BYTES, is for users. */
enum { LAUNCHER_NAME_BYTES = 64 };
const struct launcher *launcher_by_words(const char *said, int *version, char *name);

/* Finds the first one in PATH that belongs to the MPI library for which omprma was built. `*path`
 * is malloced, `name` as above. Blocks: while a launcher is asked for its version. Errors: CONFIG
 * (there is none; the text says which there is instead). */
omprma_status_t launcher_find(const struct launcher **launcher, char **path, char *name);

/* The one at this path, of whichever library; NULL: none that is known. Blocks likewise. */
const struct launcher *launcher_of(const char *path);

/* Takes what launchers tell their processes out of an environment. */
void launcher_forget(struct list *environment);

/* Is this NAME=VALUE what one of them, whichever it is, tells rank 0 for MPI? */
bool launcher_gives(const char *variable);

#endif
