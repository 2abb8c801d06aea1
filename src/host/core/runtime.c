/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* runtime.c: the one runtime and its lock. See runtime.h. */
#include "host/core/runtime.h"

#include <pthread.h>

#include "base/error.h"

static struct runtime *the_runtime;
static bool forked;

static void forget_in_child(void)
{
    forked = forked || the_runtime;
    the_runtime = NULL; /* its locks and connections are the parent's */
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_in_child);
}

struct runtime *runtime_get(void)
{
    return __atomic_load_n(&the_runtime, __ATOMIC_ACQUIRE);
}

void runtime_set(struct runtime *runtime)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
    __atomic_store_n(&the_runtime, runtime, __ATOMIC_RELEASE);
}

bool runtime_is_parents(void)
{
    return forked;
}

omprma_status_t runtime_absent(void)
{
    if (forked)
        return error_set(OMPRMA_ERR_CLOSED,
                         "this process was forked by one that is connected to its workers, and "
                         "cannot use them: leave that to the parent, or start a program by an "
                         "omprma-run of its own");
    return error_set(OMPRMA_ERR_CLOSED, "omprma is not running: call omprma_init() first");
}

omprma_status_t runtime_require(struct runtime **runtime)
{
    *runtime = runtime_get();
    return *runtime ? OMPRMA_OK : runtime_absent();
}

void runtime_lock(struct runtime *runtime)
{
    waiting_lock_take(&runtime->lock);
}

static void wake_and_unlock(struct runtime *runtime)
{
    struct wakeups wakeups = runtime->wakeups;

    runtime->wakeups = (struct wakeups){0};
    waiting_lock_give(&runtime->lock);
    wakeups_run(&wakeups);
}

void runtime_unlock(struct runtime *runtime)
{
    while (completions_are_due(&runtime->completions)) {
        struct completion *due = completions_take(&runtime->completions);

        wake_and_unlock(runtime);
        completions_run(due);
        runtime_lock(runtime);
        runtime->completions.running = false;
    }
    if (runtime->wakeups.any)
        wake_and_unlock(runtime);
    else
        waiting_lock_give(&runtime->lock);
}
