/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * direct.h: a run without MPI: an agent (worker/agent.h) gives workers to
 * whatever programs are started by the command. Watches both to their ends. Knows nothing of LLVM.
 *
 *   omprma-run ─┬─ PROGRAM, or what starts programs
 *               ├─ omprma-worker --agent ─── omprma-worker --session, for each program and slot
 *               └─ the launcher of an MPI library ─── likewise, on other hosts (far.h)
 */
#ifndef OMPRMA_LAUNCH_DIRECT_H
#define OMPRMA_LAUNCH_DIRECT_H

#include "tools/launch/far.h"
#include "tools/launch/program.h"

struct direct {
    const struct program *program; /* without a launcher; `join` and `coming` follow here */
    const char *worker;            /* path of omprma-worker */
    const char *worker_path;       /* as in struct command */
    const char *folder;            /* the run's, removed before a signal ends this process, too */
    bool one;                      /* the command is an offloading program itself */
    bool offloads;                 /* the same, or it starts one for sure: none is an error */
    const struct far_plan *far;    /* NULL: no other host takes part */
    int here, there;               /* slots of this host, and of others */
};

/* Returns as launch_run() does. Signals are blocked (signals_block()). */
int direct_run(const struct direct *direct);

/* Appends what comes in front of the program by hand: the agent's command line, for people. */
void direct_describe(const struct direct *direct, struct list *line);

#endif
