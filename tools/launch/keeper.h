/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * keeper.h: the process that runs mpirun and makes sure that nothing of it stays: it ends mpirun,
 * every process that mpirun left on this host, shared memory files of the job and the run's private
 * folder, as soon as it is told to, mpirun ends, or the process that started it dies in any way.
 * Of the program it knows when that ends.
 */
#ifndef OMPRMA_LAUNCH_KEEPER_H
#define OMPRMA_LAUNCH_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <omprma/omprma.h>

#include "tools/launch/list.h"

struct launcher;

struct keeper_job {
    const struct launcher *launcher;
    const struct list *command; /* mpirun and its arguments */
    const char *folder;         /* for mpirun's session files; removed at the end */
    int out, err;               /* mpirun's stdout and stderr */
    int listener;               /* closed in the keeper */
    bool alone;                 /* no other host takes part */
};

/* Packets on the control socket. */
enum {
    KEEPER_STOP = 'q',
    KEEPER_JOB = 'j',
    KEEPER_PROGRAM = 'p',
    KEEPER_STARTED = 's',
    KEEPER_ENDED = 'm',
    KEEPER_CLEAN = 'e',
    KEEPER_GONE = 0 /* it was killed; for keeper_hear() only */
};
struct keeper_packet {
    int32_t what;   /* to the keeper: STOP, JOB, PROGRAM; from it: STARTED, ENDED, CLEAN */
    uint32_t value; /* JOB: Open MPI's job id; PROGRAM: its process; STARTED: mpirun's process;
                     * ENDED: its wait status */
};

/* Starts it. `*control` is the socket to it; closing it means STOP. Errors: HOST_MEMORY. */
omprma_status_t keeper_start(const struct keeper_job *job, pid_t *pid, int *control);

/* The next packet from it, or KEEPER_GONE. False: there is none yet. */
bool keeper_hear(int control, struct keeper_packet *packet);

/* What a keeper that was killed cannot do any more: waits some seconds for mpirun, which is a child
 * of this process now and knows that it is to end, kills it if need be, and removes the rest.
 * `mpirun` and `job_id` may be 0: not known; the job was started at `since`. Blocks: for
 * at most 4 s. */
void keeper_replace(pid_t mpirun, uint32_t job_id, time_t since, const char *folder);

#endif
