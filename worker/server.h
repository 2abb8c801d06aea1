/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * server.h: the worker's heart. Takes control messages for the session of the program that it
 * serves (session.h), which has devices (device.h) do what they say (backend.h).
 *
 * - server.c: the loop: receive, run, idle, sleep; who serves when (main or service thread)
 * - service.c: the service thread
 *
 * Thread: with server->lock held unless said otherwise, see worker.h.
 */
#ifndef OMPRMA_WORKER_SERVER_H
#define OMPRMA_WORKER_SERVER_H

#include "worker/device.h"
#include "worker/session.h"
#include "worker/worker.h"

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

/* Ends the worker, without a word, if a step has failed because its program has ended. */
void server_follow_program(const struct server *server, omprma_status_t status);

/* ---- service.c */

omprma_status_t service_start(struct server *server);
void service_stop(struct server *server);

/* A kernel starts on the main thread; ends. */
void service_kernel_begins(struct server *server);
void service_kernel_ended(struct server *server);

/* Asks the service thread to leave its sleep; true once it is not sleeping. */
bool service_stand_back(struct server *server);

#endif
