/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * worker.h: what all of a worker shares: its lock, its channel and data paths, its devices, the
 * session of the program that it serves. What is done with them stands above: session.h, server.h.
 *
 * Thread: with server->lock held unless said otherwise; the lock is also what makes MPI calls one
 * at a time. It is released only around kernels and sleeps.
 */
#ifndef OMPRMA_WORKER_WORKER_H
#define OMPRMA_WORKER_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <omprma/omprma.h>

#include "base/waiting.h"
#include "control/channel.h"
#include "control/datapath.h"
#include "control/world.h"

struct session;
struct worker_device;

struct server {
    struct waiting_lock lock; /* its holder lets go between steps where others want it */

    struct world *world; /* NULL: inside the application's process (tests) */
    struct channel *channel;
    struct doorbell *bell;    /* this worker's; NULL: nobody rings */
    struct doorbell **others; /* by rank, those of other workers of the host that it was told of,
                               * for the one-sided path; NULL as a whole: it uses none */
    bool sees_program; /* it can open memory files of the program, and so of workers beside it */
    struct datapath *one_sided; /* NULL without a window */
    struct datapath *two_sided;
    struct datapath
        *neighbours; /* to arenas of other workers that are mapped here; NULL: none was */

    struct worker_device *devices; /* the caller's */
    int device_count;
    struct session *session;

    /* The device whose kernels the main thread runs, while the service thread may have to serve:
     * the only one. NULL: the main thread only serves. */
    struct worker_device *main_device;
    pthread_t main_thread;
    /* Odd while the main thread is in a kernel; changes with each kernel. By that thread only. */
    _Atomic uint32_t kernel_seq;
    pthread_t service_thread;
    _Atomic uint32_t service_state; /* futex: SERVICE_* of service.c */
    _Atomic bool service_sleeps;    /* it is in channel_sleep() */
    _Atomic uint32_t steps;         /* looks at the channel; counted by who holds the lock */

    int64_t awake_until_ns;
    struct waiting_limits limits;
    struct yield_history yields;
    bool exiting;
    void (*leave_lost)(void); /* ends the process when the main thread cannot; may be NULL */
    bool lost;                /* some device is, with threads that never come back */
    omprma_status_t broken;   /* the connection has failed: this worker has to end */
    char broken_text[256];
};

/* The lock is not held; is. */
static inline void server_lock(struct server *server)
{
    waiting_lock_take(&server->lock);
}

static inline void server_unlock(struct server *server)
{
    waiting_lock_give(&server->lock);
}

/* The connection has failed in a way that leaves somebody waiting for ever: what comes now is the
 * end of this worker, and through MPI that of all. The first reason is kept. */
void server_break(struct server *server, omprma_status_t status, const char *text);

#endif
