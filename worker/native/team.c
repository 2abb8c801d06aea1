/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * team.c: numbers of threads of a libomp that has started. A parallel region takes the calling
 * thread's number, a teams region the one that libomp once read from the environment: both are set.
 * A new start of libomp (omp_pause_resource_all()) would do all of this, but LLVM 16's crashes.
 */
#define _GNU_SOURCE
#include "worker/native/team.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/device.h"
#include "worker/native/image.h"
#include "worker/native/native.h"

static bool find(const void *owner, const char *name, void *function, size_t bytes)
{
    void *symbol = image_library_symbol(owner, name);

    memcpy(function, &symbol, bytes);
    return symbol;
}

static void nothing(void *data)
{
    (void)data;
}

void team_resize(const void *owner, int threads)
{
    void (*set_defaults)(const char *settings), (*set_threads)(int threads);
    void (*parallel)(void (*body)(void *), void *data, unsigned threads, unsigned flags);
    char text[40];

    if (!find(owner, "kmp_set_defaults", &set_defaults, sizeof(set_defaults)) ||
        !find(owner, "omp_set_num_threads", &set_threads, sizeof(set_threads)) ||
        !find(owner, "GOMP_parallel", &parallel, sizeof(parallel)))
        return;
    snprintf(text, sizeof(text), "OMP_NUM_THREADS=%d", threads);
    set_defaults(text);
    set_threads(threads);
    parallel(nothing, NULL, (unsigned)threads, 0);
}

/* What libomp and compilers know of a task. */
struct task {
    void *shareds;
    int32_t (*routine)(int32_t thread, struct task *task);
    int32_t part;
    void *data[2];
};

static int32_t do_nothing(int32_t thread, struct task *task)
{
    (void)thread, (void)task;
    return 0;
}

/* libomp keeps a limit with the task that it was set for, and cannot take it back: so the kernel
 * runs in a task of its own, as code of clang does where the host is the device. */
void *team_limit(const void *owner, int threads)
{
    enum { TIED = 1 };
    int32_t (*number)(void *location);
    struct task *(*make)(void *location, int32_t thread, int32_t flags, size_t bytes,
                         size_t shared_bytes, int32_t (*routine)(int32_t, struct task *));
    void (*begin)(void *location, int32_t thread, struct task *task);
    void (*set)(void *location, int32_t thread, int32_t limit);
    struct task *task;
    int32_t thread;

    if (!find(owner, "__kmpc_global_thread_num", &number, sizeof(number)) ||
        !find(owner, "__kmpc_omp_task_alloc", &make, sizeof(make)) ||
        !find(owner, "__kmpc_omp_task_begin_if0", &begin, sizeof(begin)) ||
        !find(owner, "__kmpc_set_thread_limit", &set, sizeof(set)))
        return NULL;
    thread = number(NULL);
    task = make(NULL, thread, TIED, sizeof(*task), 0, do_nothing);
    begin(NULL, thread, task);
    set(NULL, thread, threads);
    return task;
}

void team_unlimit(const void *owner, void *limited)
{
    int32_t (*number)(void *location);
    void (*complete)(void *location, int32_t thread, struct task *task);

    if (limited && find(owner, "__kmpc_global_thread_num", &number, sizeof(number)) &&
        find(owner, "__kmpc_omp_task_complete_if0", &complete, sizeof(complete)))
        complete(NULL, number(NULL), limited);
}

void team_inherit_cores(void)
{
    static const char *const users[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"};

    for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
        if (getenv(users[i]))
            return;
    setenv("KMP_AFFINITY", "disabled", 0);
}

/* ---- in place of libomp's; omprma-worker exports these, and images find them first ---- */

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int omp_get_num_procs(void);
EXPORTED int omp_get_device_num(void);
EXPORTED int omp_get_device_num_(void);

/* libomp's counts once, when it starts. */
int omp_get_num_procs(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Each device has images of its own, so whose code asks tells the device. */
static int number_of(const void *code)
{
    enum { NONE = -2 }; /* omp_invalid_device */
    const struct native *native = image_owner((uint64_t)(uintptr_t)code);

    return native ? native->device->number : NONE;
}

int omp_get_device_num(void)
{
    return number_of(__builtin_return_address(0));
}

/* The same for Fortran. */
int omp_get_device_num_(void)
{
    return number_of(__builtin_return_address(0));
}
