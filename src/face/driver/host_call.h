/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * host_call.h: functions of the program that a queue calls when it comes to them. One thread calls
 * them, one after another; the queue is held until the function returns. Knows nothing of any
 * driver interface.
 *
 * Thread: any. Blocks: host_call_issue() as omprma_queue_hold(), the others do not.
 */
#ifndef OMPRMA_FACE_DRIVER_HOST_CALL_H
#define OMPRMA_FACE_DRIVER_HOST_CALL_H

#include <stdbool.h>
#include <sys/queue.h>

#include <omprma/omprma.h>

/* The library's own structure begins with it, and stays as it is until `done` is called. */
struct host_call {
    /* Calls the program's function. `status` is the first error of what the queue held before. */
    void (*run)(struct host_call *call, omprma_status_t status);
    /* The queue goes on. Called after `run`, but not once the process ends. */
    void (*done)(struct host_call *call);
    /* host_call.c's: */
    STAILQ_ENTRY(host_call) link;
    omprma_hold_t *hold;
    omprma_status_t status;
};

/* Before the first host_call_issue(); starts the thread at the first call. False: there is none. */
bool host_calls_start(void);

/* Puts the call behind all that the queue holds. Errors: as omprma_queue_hold(); neither of its
 * functions is called then. */
omprma_status_t host_call_issue(omprma_queue_t *queue, struct host_call *call);

/* Is the calling thread the one that runs them? The function must not call the library. */
bool host_call_running(void);

/* At the end of the process: none is called from here on. */
void host_calls_end(void);

#endif
