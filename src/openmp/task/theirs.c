/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * theirs.c: A routine of ours stands where the compiler's would: before that one runs, the calling
 * thread gets to know what was kept with the task.
 */
#include "openmp/task/theirs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "openmp/device/devices.h"
#include "openmp/run/kept.h"
#include "openmp/site/report.h"
#include "openmp/task/next.h"

enum { APART = 64 /* bytes to which libomp aligns tasks */ };

static struct {
    pthread_mutex_t lock;
    atomic_bool made; /* or need not be made */
} helpers = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool helpers_lock(void)
{
    struct timespec end;
    if (atomic_load_explicit(&helpers.made, memory_order_acquire))
        return false;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec++;
    return pthread_mutex_timedlock(&helpers.lock, &end) == 0;
}

void helpers_unlock(bool locked)
{
    if (locked)
        pthread_mutex_unlock(&helpers.lock);
}

struct task *theirs_alloc(void *location, int32_t thread, int32_t flags, size_t task_bytes,
                          size_t shared_bytes, task_routine_t *routine, int64_t device)
{
    bool locked = helpers_lock();
    struct task *task =
        next_get()->alloc(location, thread, flags, task_bytes, shared_bytes, routine, device);
    atomic_store_explicit(&helpers.made, true, memory_order_release);
    helpers_unlock(locked);
    return task;
}

/* Before what the task shares; libomp knows nothing of it. */
struct theirs {
    task_routine_t *routine;
    size_t shared_bytes;
    struct kept *kept;
    struct dependences named; /* a copy, made with placement only, which asks for it */
};

static _Thread_local const struct theirs *current;

static struct theirs *theirs_of(const struct task *task)
{
    _Static_assert(sizeof(struct theirs) <= APART, "it lies in front of what is shared");
    return (struct theirs *)((char *)task->shareds - APART);
}

/* Stands where the compiler's routine would. */
static int32_t theirs_run(int32_t thread, struct task *task)
{
    struct theirs *theirs = theirs_of(task);
    const struct theirs *outer = current;
    const struct kept *outer_kept = kept_use(theirs->kept);
    current = theirs;
    int32_t result = theirs->routine(thread, task);
    current = outer;
    kept_use(outer_kept);
    kept_free(theirs->kept);
    free((void *)theirs->named.list);
    return result;
}

struct task *theirs_make(void *location, int32_t thread, int32_t flags, size_t task_bytes,
                         size_t shared_bytes, task_routine_t *routine, int64_t device)
{
    struct task *task =
        theirs_alloc(location, thread, flags, task_bytes, APART + shared_bytes, theirs_run, device);
    task->shareds = (char *)task->shareds + APART;
    *theirs_of(task) = (struct theirs){.routine = routine, .shared_bytes = shared_bytes};
    return task;
}

/* Both lists as one. */
static struct dependences dependences_copy(const struct dependences *dependences)
{
    int32_t count = dependences_total(dependences);
    struct dependence *list = malloc((size_t)count * sizeof(*list));
    if (!list) {
        report(NULL, NULL, "no host memory for the dependences of a target construct");
        report_fatal(NULL);
    }
    for (int32_t i = 0; i < count; i++)
        list[i] = *dependence_at(dependences, i);
    return (struct dependences){.count = count, .list = list};
}

void theirs_keep(struct task *task, const struct dependences *dependences)
{
    if (task->routine != theirs_run)
        return;
    struct theirs *theirs = theirs_of(task);
    theirs->kept = kept_make(task, theirs->shared_bytes);
    if (dependences_total(dependences) > 0 && devices_are_placed())
        theirs->named = dependences_copy(dependences);
}

bool theirs_names(uintptr_t begin, uintptr_t end, bool by_in)
{
    return current && dependences_name(&current->named, begin, end, by_in);
}
