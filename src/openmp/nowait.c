/*
 * nowait.c: nowait constructs without a thread that waits. libomp runs one as a task; the runtime
 * may start the work, leave a handle in the task and return, and libomp asks about the handle until
 * it is gone. libomp 16 loses such a task now and then (seen: one program of woven dependences in
 * 10 to 40 hangs), and for 17 and 18 nobody has looked; there the helper thread waits, as with
 * those that have no handles.
 */
#include "openmp/construct.h"
#include "openmp/exports.h"
#include "openmp/libomp.h"

/* A thread that asks in vain so often has nothing better to do: it waits. */
enum { ASKED_MOST = 32 };

static _Thread_local int asked;

void **nowait_place(void)
{
    if (!__kmpc_dispatch_deinit || !__kmpc_omp_get_target_async_handle_ptr ||
        !__kmpc_global_thread_num || !__kmpc_omp_has_task_team)
        return NULL;
    int32_t thread = __kmpc_global_thread_num(NULL);
    if (thread < 0 || !__kmpc_omp_has_task_team(thread))
        return NULL;
    return __kmpc_omp_get_target_async_handle_ptr(thread);
}

void __tgt_target_nowait_query(void **handle)
{
    struct work *work = handle ? *handle : NULL;
    bool done = true, right = true;
    if (!work || !device_enter())
        return;
    const struct location *where = work->where;
    struct device *device = work->device;
    if (++asked > ASKED_MOST)
        right = work_finish(work);
    else
        work_poll(work, &done, &right);
    device_leave();
    if (!done)
        return;
    asked = 0;
    *handle = NULL;
    outcome(right, where, device);
}
