/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * libomp.h: what the runtime asks of libomp. Weak, because a library that is loaded for the program
 * may come without it, and older ones lack some; look before the call.
 */
#ifndef OMPRMA_OPENMP_ABI_LIBOMP_H
#define OMPRMA_OPENMP_ABI_LIBOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIBOMP __attribute__((weak))

enum { OFFLOAD_DISABLED = 0, OFFLOAD_DEFAULT = 1, OFFLOAD_MANDATORY = 2 };

/* The bits of `flags` below. */
enum { DEPEND_IN = 1, DEPEND_INOUT = 3, DEPEND_MUTEX = 4, DEPEND_SET = 8, DEPEND_ALL = 0x80 };

/* One dependence of a task. */
struct dependence {
    intptr_t address;
    size_t bytes;
    uint8_t flags;
};

/* What tasks are made with. */
enum { TASK_UNTIED = 0, TASK_TIED = 1, TASK_DESTRUCTORS = 8, TASK_DETACHABLE = 0x40 };

struct task;
typedef int32_t task_routine_t(int32_t thread, struct task *task);

/* The fields that a compiler knows. */
struct task {
    void *shareds;
    task_routine_t *routine;
    int32_t part;
    task_routine_t *destructors; /* with that flag */
    void *priority;
};

/* The body of a parallel region: the thread's number in libomp and in the team, and what is given
 * to the region. */
typedef void microtask_t(int32_t *thread, int32_t *number, ...);

/* __kmp_invoke_microtask(): calls it. */
typedef int invoke_t(microtask_t *body, int thread, int number, int count, void **arguments,
                     void **frame);

/* NOLINTBEGIN(bugprone-reserved-identifier): libomp chose the names. */
LIBOMP double omp_get_wtime(void);
LIBOMP void ompt_libomp_connect(void *result); /* see ompt.c */
LIBOMP int omp_get_default_device(void);
LIBOMP void omp_set_default_device(int number);
LIBOMP int omp_get_cancellation(void);
LIBOMP int omp_get_thread_limit(void);
LIBOMP int omp_get_level(void);
LIBOMP int omp_get_num_threads(void);
LIBOMP int omp_in_final(void);
LIBOMP int omp_in_parallel(void);
LIBOMP int __kmpc_get_target_offload(void);
LIBOMP int32_t __kmpc_global_thread_num(void *location);
LIBOMP struct task *__kmpc_omp_task_alloc(void *location, int32_t thread, int32_t flags,
                                          size_t task_bytes, size_t shared_bytes,
                                          task_routine_t *routine);
LIBOMP void __kmpc_omp_task_begin_if0(void *location, int32_t thread, struct task *task);
LIBOMP void __kmpc_omp_task_complete_if0(void *location, int32_t thread, struct task *task);
LIBOMP int32_t __kmpc_omp_taskyield(void *location, int32_t thread, int end_part);
LIBOMP void *__kmpc_task_allow_completion_event(void *location, int32_t thread, struct task *task);
LIBOMP void __kmpc_proxy_task_completed(int32_t thread, struct task *task);
LIBOMP bool __kmpc_omp_has_task_team(int32_t thread);
LIBOMP void **__kmpc_omp_get_target_async_handle_ptr(int32_t thread);
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
