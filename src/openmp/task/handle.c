/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * handle.c: see handle.h.
 *
 * libomp's threads look for tasks at the ends of their lists only. One that may not start yet,
 * because of a mutexinoutset dependence, hides what is behind it; when that is the very task that
 * holds the lock, put back meanwhile, nobody finds it any more, and the program hangs. Where a
 * thread of the team has met an untied task of its own, they look through whole lists. So each
 * thread that leaves a handle meets one first.
 */
#include "openmp/task/handle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "face/gate.h"
#include "openmp/abi/exports.h"
#include "openmp/abi/late.h"
#include "openmp/abi/libomp.h"
#include "openmp/site/loss.h"
#include "openmp/site/report.h"
#include "openmp/task/flight.h"

enum {
    POLL_NS = 3000,    /* a query that has to wait polls for so long, */
    NAP_NS = 10000,    /* then naps between two looks, */
    LOOK_NS = 100000,  /* and gives up after this; */
    PAUSE_NS = 1000000 /* the next one waits no earlier than this if nothing has arrived */
};

static struct handles {
    bool possible;
    _Atomic uint64_t arrived; /* so far */
} handles;

/* ---- libomp --------------------------------------------------------------------------------- */

static int32_t untied_run(int32_t thread, struct task *task)
{
    (void)thread, (void)task;
    return 0;
}

/* Lets the thread's team look through whole lists of tasks. */
static void untied_meet(int32_t thread)
{
    static _Thread_local bool met;
    if (met)
        return;
    met = true;
    struct task *task =
        __kmpc_omp_task_alloc(NULL, thread, TASK_UNTIED, sizeof(*task), 0, untied_run);
    __kmpc_omp_task_begin_if0(NULL, thread, task);
    __kmpc_omp_task_complete_if0(NULL, thread, task);
}

/* Why constructs cannot be left in flight; NULL: they can. */
static const char *why_not(void)
{
    const char *helpers = getenv("LIBOMP_NUM_HIDDEN_HELPER_THREADS");
    if (loss_goes_on())
        return "OMPRMA_ON_LOSS=continue: the host may have to compute them";
    if (!__kmpc_global_thread_num || !__kmpc_omp_get_target_async_handle_ptr ||
        !__kmpc_omp_has_task_team || !__kmpc_omp_task_alloc || !__kmpc_omp_task_begin_if0 ||
        !__kmpc_omp_task_complete_if0)
        return "libomp is older than 16";
    if (late_for_libomp() ||
        dlsym(RTLD_DEFAULT, "__tgt_target_nowait_query") != (void *)__tgt_target_nowait_query)
        return "libomp does not know of the function that it would ask";
    /* Tasks of a cancelled taskgroup are dropped without asking, and waited for, for ever. */
    if (omp_get_cancellation && omp_get_cancellation())
        return "OMP_CANCELLATION is set";
    /* Nobody looks through the whole list of the only thread. */
    if (helpers && atoi(helpers) == 1)
        return "libomp has one hidden helper thread";
    return NULL;
}

static void handles_decide(void)
{
    const char *reason = why_not();
    handles.possible = !reason;
    if (reason)
        report_choice("nowait constructs are waited for by libomp's threads: %s", reason);
    else
        report_choice("libomp's threads ask about nowait constructs");
}

static bool handles_are_possible(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, handles_decide);
    return handles.possible;
}

/* NULL: it has to be waited for. */
static void **place_of_task(void)
{
    if (!handles_are_possible())
        return NULL;
    int32_t thread = __kmpc_global_thread_num(NULL);
    if (thread < 0 || !__kmpc_omp_has_task_team(thread))
        return NULL;
    untied_meet(thread);
    return __kmpc_omp_get_target_async_handle_ptr(thread);
}

bool handle_possible(void)
{
    return place_of_task() != NULL;
}

/* ---- works ---------------------------------------------------------------------------------- */

void handle_leave(struct work *work)
{
    flight_count(1);
    *place_of_task() = work;
}

/* Whether a thread of libomp's may wait a little: other tasks may have come meanwhile, of which
 * only libomp knows, so not again and again while nothing arrives. */
static bool may_wait(int64_t now)
{
    static _Thread_local uint64_t arrived;
    static _Thread_local int64_t waited_ns;
    uint64_t present = atomic_load_explicit(&handles.arrived, memory_order_relaxed);
    if (present == arrived && now - waited_ns < PAUSE_NS)
        return false;
    arrived = present;
    waited_ns = now;
    return true;
}

/* The processor is left to others by sleeping: one that yields to a thread that never does, as
 * those of libomp in a taskwait, gets it back after milliseconds. */
static bool has_arrived(struct work *work)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    if (work_has_arrived(work))
        return true;
    int64_t begin = clock_ns(), now = begin;
    if (!may_wait(begin))
        return false;
    while (now - begin < LOOK_NS) {
        if (now - begin > POLL_NS)
            nanosleep(&nap, NULL);
        if (work_has_arrived(work))
            return true;
        now = clock_ns();
    }
    return false;
}

static void land(void **place)
{
    *place = NULL;
    flight_count(-1);
}

void handle_query(void **place)
{
    struct work *work = *place;
    if (!gate_enter()) { /* the process ends */
        land(place);
        return;
    }
    if (has_arrived(work)) {
        atomic_fetch_add_explicit(&handles.arrived, 1, memory_order_relaxed);
        flight_finish(work);
        land(place);
    } else {
        flight_say_end(work);
    }
    gate_leave();
}
