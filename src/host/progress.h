/*
 * progress.h: waiting. Of the threads that wait one makes progress for all: it polls, yields,
 * sleeps (base/waiting.h); the others sleep until their wait is over or it is their turn.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_PROGRESS_H
#define OMPRMA_HOST_PROGRESS_H

#include "host/runtime.h"

/* Waits, making progress for all, until `done(data)` is true. Called with the lock held; it is
 * released now and then. */
void progress_wait(struct runtime *runtime, bool (*done)(const void *), const void *data);

/* Wakes threads in progress_wait() to look again. */
void progress_signal(struct runtime *runtime);

/* The thread of OMPRMA_PROGRESS_THREAD, if it is wanted. Errors: HOST_MEMORY. */
omprma_status_t progress_thread_start(struct runtime *runtime);
void progress_thread_stop(struct runtime *runtime);

#endif
