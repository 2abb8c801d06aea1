/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * far.h: the agents of other hosts (worker/agent.h), which the launcher of an MPI library starts as
 * it would start workers, one process for each slot; those of a host make one agent. They call the
 * agent of this host, with a secret that no command line has. Knows nothing of programs.
 */
#ifndef OMPRMA_LAUNCH_FAR_H
#define OMPRMA_LAUNCH_FAR_H

#include <stdbool.h>
#include <sys/types.h>

#include <omprma/omprma.h>

#include "tools/launch/hosts.h"
#include "tools/launch/list.h"
#include "tools/launch/loop.h"
#include "tools/launch/verdict.h"

struct launcher;

/* What is to be started. */
struct far_plan {
    const struct launcher *launcher;
    const struct hosts *hosts; /* without this one */
    struct list *command;      /* the launcher's, as of command_make() */
    const char *worker;        /* path of the agents' executable */
    const char *folder;        /* for the launcher's files; removed at the end */
    int listener;              /* where rank 0's stand-in and the remote shell report, see rank.h */
};

struct far {
    const struct far_plan *plan; /* NULL: there are no other hosts */
    int network; /* listening TCP socket, for the agent of this host; -1: it has it */
    struct loop_source listener, words, rank, control; /* for a loop, in this order */
    pid_t keeper;                                      /* 0: never there */
    int status;                                        /* of the launcher */
    bool ended;                                        /* the launcher */
    bool given_up; /* by the caller: what agents say from now on follows from that */
    struct verdict verdict;
    struct stream stream;
    void (*on_change)(void *owner);
    void *owner;
};

/* Makes the socket that they are to call, and puts into the environment what agents need. `plan`
 * may be NULL. `on_change` is called with `owner` when something was said, or the launcher has
 * ended. Errors: CONFIG, HOST_MEMORY. */
omprma_status_t far_open(struct far *far, const struct far_plan *plan, const char *digits,
                         void (*on_change)(void *owner), void *owner);

/* Starts the launcher. Errors: HOST_MEMORY. */
omprma_status_t far_start(struct far *far);

/* Takes out of the environment what is not for programs. */
void far_forget(void);

/* One line about why the launcher has ended. */
void far_word(const struct far *far, char *line, size_t room);

/* The agents have ended, or are to: the launcher ends. */
void far_stop(struct far *far);

/* Waits for that. Blocks: for some seconds at most, see keeper.h. */
void far_close(struct far *far);

#endif
