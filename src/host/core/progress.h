/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * progress.h: waiting. Of the threads that wait one makes progress for all: it polls, yields,
 * sleeps (base/waiting.h); the others sleep until their wait is over or it is their turn.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_CORE_PROGRESS_H
#define OMPRMA_HOST_CORE_PROGRESS_H

#include "host/core/runtime.h"

/* Waits, making progress for all, until `done(data)` is true. Called with the lock held; it is
 * released now and then. */
void progress_wait(struct runtime *runtime, bool (*done)(const void *), const void *data);

/* Sleeps until something comes in, at most `ns`, unless another thread sees to that. False, at
 * once: it could not tell. */
bool progress_rest(struct runtime *runtime, int64_t ns);

/* Wakes threads in progress_wait() to look again. */
void progress_signal(struct runtime *runtime);

/* Something is under way that was not: the background thread is woken if it sleeps and is wanted.
 */
static inline void progress_rouse(struct runtime *runtime)
{
    struct background *background = &runtime->background;

    if (!background->made || !atomic_load_explicit(&background->asleep, memory_order_relaxed) ||
        atomic_load(&background->wanted) <= 0)
        return;
    atomic_store(&background->asleep, false);
    wakeups_add_background(&runtime->wakeups, &background->wake);
}

#endif
