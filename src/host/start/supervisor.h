/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * supervisor.h: what omprma-run and the program it started say to each other, through variables
 * OMPRMA_INTERNAL_*. Nothing happens when the program was started by other means.
 */
#ifndef OMPRMA_HOST_START_SUPERVISOR_H
#define OMPRMA_HOST_START_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

struct coming;
struct recording;

/* What the program writes to descriptor OMPRMA_INTERNAL_FD, one byte each. */
enum {
    SUPERVISOR_CONNECTED = 'c', /* it has come to its workers */
    SUPERVISOR_LOST = 'l',      /* a worker is lost, and the run goes on: it cannot end in order */
    SUPERVISOR_DIED = 'd'       /* the program aborts, and a worker's process has died before */
};

/* When omprma-run was started, and when it started the program, by clock_ns(); 0: not known. Once,
 * as the variable is gone then. */
void supervisor_times(int64_t *launch_ns, int64_t *program_ns);

/* Takes the workers for this process. False: they serve or have served another one, *pid. Programs
 * of one script, and those that a program starts, inherit the variables of the one place that there
 * is. */
bool supervisor_claim(int *pid);

/* How many workers are up. NULL: nobody counts them. After supervisor_claim(). */
struct coming *supervisor_coming(void);

/* Do other programs of the same omprma-run have workers of their own, or may have? Then this one
 * writes files of its own. After supervisor_claim(). */
bool supervisor_is_shared(void);

/* Where this process leaves what it has done. NULL: nobody wants to know. After supervisor_claim().
 */
struct recording *supervisor_recording(void);

/* Tells omprma-run that the program has connected, and gives the program's children back the
 * environment that the user had: loader paths of ours are not for them. Once, when MPI runs. */
void supervisor_tell_connected(void);

/* Tells omprma-run that an error was printed, so that it need not say how the program has ended. */
void supervisor_tell_said(void);

/* Tells omprma-run that it need not wait for all workers at the end. */
void supervisor_tell_lost(void);

/* Tells omprma-run that a worker's process had died when this program was aborted. A signal handler
 * may call it. */
void supervisor_tell_died(void);

#endif
