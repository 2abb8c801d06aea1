/*
 * libomp.h: what the runtime asks of libomp. Weak, because a library that is loaded for the program
 * may come without it, and older ones lack some; look before the call.
 */
#ifndef OMPRMA_OPENMP_LIBOMP_H
#define OMPRMA_OPENMP_LIBOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIBOMP __attribute__((weak))

enum { OFFLOAD_DISABLED = 0, OFFLOAD_DEFAULT = 1, OFFLOAD_MANDATORY = 2 };

/* One dependence of a task. */
struct dependence {
    intptr_t address;
    size_t bytes;
    uint8_t flags; /* 1 in, 2 out */
};

/* The fields that a compiler knows. */
struct task {
    void *shareds;
    int32_t (*routine)(int32_t thread, struct task *task);
    int32_t part;
    void *data[2];
};

/* NOLINTBEGIN(bugprone-reserved-identifier): libomp chose the names. */
LIBOMP int omp_get_default_device(void);
LIBOMP int omp_get_cancellation(void);
LIBOMP int omp_get_thread_limit(void);
LIBOMP int omp_in_parallel(void);
LIBOMP int __kmpc_get_target_offload(void);
LIBOMP int32_t __kmpc_global_thread_num(void *location);
LIBOMP struct task *__kmpc_omp_target_task_alloc(void *location, int32_t thread, int32_t flags,
                                                 size_t task_bytes, size_t shared_bytes,
                                                 int32_t (*routine)(int32_t, struct task *),
                                                 int64_t device);
LIBOMP int32_t __kmpc_omp_task_with_deps(void *location, int32_t thread, struct task *task,
                                         int32_t count, struct dependence *dependences,
                                         int32_t alias_free_count, struct dependence *alias_free);
LIBOMP int32_t __kmpc_omp_taskwait(void *location, int32_t thread);
LIBOMP void __kmpc_omp_wait_deps(void *location, int32_t thread, int32_t count, void *dependences,
                                 int32_t alias_free_count, void *alias_free);
LIBOMP struct task *__kmpc_omp_task_alloc(void *location, int32_t thread, int32_t flags,
                                          size_t task_bytes, size_t shared_bytes,
                                          int32_t (*routine)(int32_t, struct task *));
LIBOMP void __kmpc_omp_task_begin_if0(void *location, int32_t thread, struct task *task);
LIBOMP void __kmpc_omp_task_complete_if0(void *location, int32_t thread, struct task *task);
LIBOMP bool __kmpc_omp_has_task_team(int32_t thread);
LIBOMP void **__kmpc_omp_get_target_async_handle_ptr(int32_t thread);
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
