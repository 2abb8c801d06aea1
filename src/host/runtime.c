/* runtime.c: the one runtime and its lock. See runtime.h. */
#include "host/runtime.h"

#include "base/error.h"

static struct runtime *the_runtime;

struct runtime *runtime_get(void)
{
    return __atomic_load_n(&the_runtime, __ATOMIC_ACQUIRE);
}

void runtime_set(struct runtime *runtime)
{
    __atomic_store_n(&the_runtime, runtime, __ATOMIC_RELEASE);
}

omprma_status_t runtime_require(struct runtime **runtime)
{
    *runtime = runtime_get();
    if (!*runtime)
        return error_set(OMPRMA_ERR_CLOSED, "omprma is not running: call omprma_init() first");
    return OMPRMA_OK;
}

void runtime_lock(struct runtime *runtime)
{
    waiting_lock_take(&runtime->lock);
}

static void wake_and_unlock(struct runtime *runtime)
{
    struct wakes wakes = runtime->wakes;

    runtime->wakes = (struct wakes){0};
    waiting_lock_give(&runtime->lock);
    wakes_run(&wakes);
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
    if (runtime->wakes.any)
        wake_and_unlock(runtime);
    else
        waiting_lock_give(&runtime->lock);
}
