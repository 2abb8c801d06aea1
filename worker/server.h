/*
 * server.h: the worker's heart. Takes control messages for the session of the program that it
 * serves (session.h), which has devices (device.h) do what they say (backend.h).
 *
 *   server.c    the loop: receive, run, idle, sleep; who serves when (main or service thread)
 *   service.c   the service thread
 *
 * Thread: everything here is done with server->lock held unless said otherwise; the lock is also
 * what makes MPI calls one at a time. It is released only around kernels and sleeps.
 */
#ifndef OMPRMA_WORKER_SERVER_H
#define OMPRMA_WORKER_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <omprma/omprma.h>

#include "base/waiting.h"
#include "control/channel.h"
#include "control/datapath.h"
#include "control/world.h"
#include "worker/device.h"
#include "worker/session.h"

struct server {
    struct waiting_lock lock; /* its holder lets go between steps where others want it */

    struct world *world; /* NULL: inside the application's process (tests) */
    struct channel *channel;
    struct doorbell *bell;      /* this worker's; NULL: nobody rings */
    struct datapath *one_sided; /* NULL without a window */
    struct datapath *two_sided;

    struct worker_device *devices; /* the caller's */
    int device_count;
    struct session *session;

    /* The device whose kernels the main thread runs, while the service thread may have to serve:
     * the only one. NULL: the main thread only serves. */
    struct worker_device *main_device;
    pthread_t main_thread;
    /* Odd while the main thread is in a kernel; changes with each kernel. */
    _Atomic uint32_t kernel_turn;
    pthread_t service_thread;
    _Atomic uint32_t service_state; /* futex: SERVICE_* of service.c */
    _Atomic bool service_sleeps;    /* it is in channel_sleep() */
    _Atomic uint32_t steps;         /* looks at the channel */

    int64_t awake_until_ns;
    struct waiting_limits limits;
    struct yield_history yields;
    bool exiting;
    void (*leave_lost)(void); /* ends the process when the main thread cannot; may be NULL */
    bool lost;                /* some device is, with threads that never come back */
    omprma_status_t broken;   /* the connection has failed: this worker has to end */
    char broken_text[256];
};

/* ---- server.c */

/* Prepares a server whose channel, paths, world and devices are set, and opens the session of the
 * program of rank `head`. Errors: HOST_MEMORY. */
omprma_status_t server_open(struct server *server, int head);

/* Serves until the application says exit (OK) or the connection fails. Not called with the lock
 * held.
 */
omprma_status_t server_run(struct server *server);

/* Ends the threads of devices and the service thread, and frees everything that server_open() and
 * the streams made, and the devices' staging memory. Does not close the devices. */
void server_close(struct server *server);

/* The connection has failed in a way that leaves somebody waiting for ever: what comes now is the
 * end of this worker, and through MPI that of all. The first reason is kept. */
void server_break(struct server *server, omprma_status_t status, const char *text);

void server_lock(struct server *server);
void server_unlock(struct server *server);

/* True on the thread that is in server_run(). */
static inline bool server_on_main(const struct server *server)
{
    return pthread_equal(pthread_self(), server->main_thread);
}

/* If something has gone wrong on a device: fails all that it was to do, once. */
void server_notice_faults(struct server *server);

/* One step of the loop, see server.c, and a wait when it found nothing; `main`: on the main thread.
 */
omprma_status_t server_step(struct server *server, bool main, bool *progressed);
void server_wait(struct server *server, struct waiting *waiting, bool main);

/* ---- service.c */

omprma_status_t service_start(struct server *server);
void service_stop(struct server *server);

/* A kernel starts on the main thread; ends. */
void service_kernel_begins(struct server *server);
void service_kernel_ended(struct server *server);

/* Asks the service thread to leave its sleep; true once it is not sleeping. */
bool service_stand_back(struct server *server);

#endif
