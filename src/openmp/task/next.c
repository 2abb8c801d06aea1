/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* next.c: The dynamic linker is asked for each name once: behind this library, then everywhere,
 * then in libomp itself. A library that the program opened for itself alone, such as a module of
 * Python, has brought that out of sight. */
#include "openmp/task/next.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

#include "openmp/site/loss.h"

static struct next next;

/* The name alone would not tell: where libomp comes first, it stands for libomp's function. */
static bool is_of_this_library(const void *function)
{
    extern const char __ehdr_start __attribute__((visibility("hidden"))); /* the linker's */
    Dl_info info;
    return function && dladdr(function, &info) && info.dli_fbase == &__ehdr_start;
}

/* Behind this library, or, when it is not the first, before it; or of `libomp`, where that is not
 * NULL. NULL: there is none but ours. */
static void *function_next(const char *name, void *libomp)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        function = dlsym(RTLD_DEFAULT, name);
    if (is_of_this_library(function))
        function = NULL;
    return function || !libomp ? function : dlsym(libomp, name);
}

static const char *why_impossible(void)
{
    if (!next.invoke || !next.alloc || !next.task || !next.with_deps || !next.taskwait ||
        !next.wait_deps || !next.taskgroup || !next.end_taskgroup || !next.barrier ||
        !__kmpc_omp_task_alloc || !__kmpc_omp_task_begin_if0 || !__kmpc_omp_task_complete_if0 ||
        !__kmpc_task_allow_completion_event || !__kmpc_proxy_task_completed ||
        !__kmpc_omp_taskyield || !omp_get_level || !omp_get_num_threads || !omp_in_final ||
        !__kmpc_global_thread_num)
        return "libomp lacks functions for that";
    if (!is_of_this_library(dlsym(RTLD_DEFAULT, "__kmpc_omp_target_task_alloc")))
        return "the program makes its tasks without this library, which was not preloaded";
    return NULL;
}

static const char *why_unwanted(void)
{
    const char *wish = getenv("OMPRMA_NOWAIT");
    if (loss_goes_on())
        return "OMPRMA_ON_LOSS=continue: the host may have to compute them";
    if (wish && strcasecmp(wish, "libomp") == 0)
        return "OMPRMA_NOWAIT=libomp";
    return NULL;
}

static void next_look(void)
{
    const struct {
        const char *name;
        void *place; /* a pointer to the function */
    } functions[] = {
        {"__kmpc_omp_target_task_alloc", &next.alloc},
        {"__kmpc_omp_task", &next.task},
        {"__kmpc_omp_task_with_deps", &next.with_deps},
        {"__kmpc_omp_taskwait", &next.taskwait},
        {"__kmpc_omp_wait_deps", &next.wait_deps},
        {"__kmpc_omp_taskwait_deps_51", &next.taskwait_deps},
        {"__kmpc_taskgroup", &next.taskgroup},
        {"__kmpc_end_taskgroup", &next.end_taskgroup},
        {"__kmpc_barrier", &next.barrier},
        {"__kmpc_fork_call", &next.fork_call},
        {"__kmp_invoke_microtask", &next.invoke},
        {"__kmpc_fork_call_if", &next.fork_call_if},
        {"__kmpc_taskred_init", &next.taskred},
        {"__kmpc_taskred_modifier_init", &next.taskred_modifier},
        {"__kmpc_task_reduction_modifier_fini", &next.taskred_end},
        {"__kmpc_task_reduction_get_th_data", &next.taskred_copy},
    };
    void *libomp = dlopen("libomp.so.5", RTLD_NOW | RTLD_NOLOAD); /* kept, as its functions are */
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        *(void **)functions[i].place = function_next(functions[i].name, libomp);
    const char *impossible = why_impossible();
    next.possible = !impossible;
    next.why_not = impossible ? impossible : why_unwanted();
}

const struct next *next_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, next_look);
    return &next;
}
