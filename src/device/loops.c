/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* loops.c: loops that flang shares out among threads and teams through the runtime. */
#include <dlfcn.h>
#include <sched.h>
#include <string.h>

#include "device/flang.h"
#include "device/schedule.h"
#include "device/team.h"

/* flang 22 leaves out the barrier with which a loop without nowait ends, and does not say which
 * loops have one. So all have it. */
static void loop_leave(struct ident *where, uint64_t thread)
{
    if (team_current)
        atomic_fetch_add_explicit(&team_current->loops[thread], 1, memory_order_release);
    __kmpc_barrier(where, __kmpc_global_thread_num(where));
}

/* Other loops are libomp's: device code in C and C++ may be part of the same image. */
static void ordered_elsewhere(const char *name, struct ident *where, int32_t thread)
{
    void (*libomp)(struct ident *, int32_t);
    void *found = dlsym(RTLD_NEXT, name);

    if (!found)
        return; /* nothing in this process can have begun such a loop */
    memcpy(&libomp, &found, sizeof(libomp));
    libomp(where, thread);
}

/* Iterations are shared out in blocks in the order of threads (flang 22 passes no chunks). So it is
 * this thread's turn when all threads before it have left the loop, whether they came through the
 * ordered construct or not. */
void __kmpc_ordered(struct ident *where, int32_t thread)
{
    unsigned self = (unsigned)omp_get_thread_num(), left;

    if (!team_looping) {
        ordered_elsewhere("__kmpc_ordered", where, thread);
        return;
    }
    if (!team_current)
        return;
    left = atomic_load_explicit(&team_current->loops[self], memory_order_relaxed);
    for (unsigned i = 0; i < self; i++)
        while (atomic_load_explicit(&team_current->loops[i], memory_order_acquire) == left)
            sched_yield();
}

void __kmpc_end_ordered(struct ident *where, int32_t thread)
{
    if (!team_looping)
        ordered_elsewhere("__kmpc_end_ordered", where, thread);
}

/* The end of a distribute loop has no barrier: where there are threads, that of their parallel
 * construct follows. The type of an iteration's number differs, nothing else does. */
#define DEVICE_LOOPS(suffix, type)                                                                 \
    static void loop_##suffix(void (*body)(type, void *), void *argument, type iterations,         \
                              type threads, type chunk, uint64_t thread)                           \
    {                                                                                              \
        struct schedule schedule;                                                                  \
                                                                                                   \
        if (iterations <= 0 || !schedule_first(&schedule, (uint64_t)iterations, (uint64_t)chunk,   \
                                               (uint64_t)threads, thread))                         \
            return;                                                                                \
        do {                                                                                       \
            for (uint64_t i = schedule.begin; i < schedule.end; i++)                               \
                body((type)i, argument);                                                           \
        } while (schedule_next(&schedule));                                                        \
    }                                                                                              \
                                                                                                   \
    void __kmpc_for_static_loop_##suffix(struct ident *where, void (*body)(type, void *),          \
                                         void *argument, type iterations, type threads,            \
                                         type chunk, int8_t one_each)                              \
    {                                                                                              \
        uint64_t thread = (uint64_t)omp_get_thread_num();                                          \
                                                                                                   \
        (void)one_each;                                                                            \
        team_looping = true;                                                                       \
        loop_##suffix(body, argument, iterations, threads, chunk, thread);                         \
        team_looping = false;                                                                      \
        loop_leave(where, thread);                                                                 \
    }                                                                                              \
                                                                                                   \
    void __kmpc_distribute_static_loop_##suffix(struct ident *where, void (*body)(type, void *),   \
                                                void *argument, type iterations, type team_chunk,  \
                                                int8_t one_each)                                   \
    {                                                                                              \
        (void)where;                                                                               \
        (void)team_chunk;                                                                          \
        (void)one_each;                                                                            \
        loop_##suffix(body, argument, iterations, 1, 0, 0);                                        \
    }                                                                                              \
                                                                                                   \
    void __kmpc_distribute_for_static_loop_##suffix(                                               \
        struct ident *where, void (*body)(type, void *), void *argument, type iterations,          \
        type threads, type team_chunk, type chunk, int8_t one_each)                                \
    {                                                                                              \
        (void)where;                                                                               \
        (void)team_chunk;                                                                          \
        (void)one_each;                                                                            \
        loop_##suffix(body, argument, iterations, threads, chunk, (uint64_t)omp_get_thread_num()); \
    }

DEVICE_LOOPS(4, int32_t)
DEVICE_LOOPS(4u, uint32_t)
DEVICE_LOOPS(8, int64_t)
DEVICE_LOOPS(8u, uint64_t)
