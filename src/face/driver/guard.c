/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * guard.c: The destructor stops the thread of host calls first, for it is inside omprma, then
 * closes the gate, then ends omprma. The exit hook (face/ending.h) has the same done where the
 * destructor would come too late.
 */
#include "face/driver/guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include <omprma_private/starting.h>

#include "face/driver/host_call.h"
#include "face/ending.h"
#include "face/gate.h"

static struct {
    atomic_bool open;
    bool started;       /* omprma_init() has succeeded */
    pid_t pid;          /* of the process that started omprma: a forked child must not end it */
    atomic_bool forked; /* this process is its child */
} guard;

__attribute__((destructor)) static void end(void)
{
    if (!guard.started || guard.pid != getpid() || gate_closed())
        return;
    host_calls_end();
    if (gate_close())
        omprma_finalize();
}

/* In the child. */
static void forget_parent(void)
{
    atomic_store(&guard.open, false);
    atomic_store(&guard.forked, true);
}

omprma_status_t guard_start(void)
{
    static struct ending ending = {.call = end};
    omprma_status_t status;

    pthread_atfork(NULL, NULL, forget_parent);
    if (!gate_open())
        return OMPRMA_ERR_HOST_MEMORY;
    ending_add(&ending);
    status = omprma_init();
    guard.started = status == OMPRMA_OK;
    guard.pid = getpid();
    return status;
}

void guard_open(void)
{
    atomic_store_explicit(&guard.open, true, memory_order_release);
}

enum guard guard_look(void)
{
    if (atomic_load_explicit(&guard.open, memory_order_acquire))
        return gate_closed() ? GUARD_ENDED : GUARD_OPEN;
    if (atomic_load(&guard.forked))
        return GUARD_FORKED;
    return omprma_starting() ? GUARD_STARTING : GUARD_NOT_STARTED;
}

enum guard guard_enter(void)
{
    enum guard state = guard_look();

    if (state != GUARD_OPEN)
        return state;
    if (!gate_enter())
        return GUARD_ENDED;
    return host_call_running() ? GUARD_IN_HOST_CALL : GUARD_OPEN;
}

void guard_leave(void)
{
    gate_leave();
}

omprma_status_t guard_go_on(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool asked;
    omprma_status_t status = OMPRMA_OK;

    pthread_mutex_lock(&lock);
    if (!asked)
        status = omprma_progress_thread(1);
    asked |= status == OMPRMA_OK;
    pthread_mutex_unlock(&lock);
    return status;
}
