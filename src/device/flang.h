/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* flang.h: the functions that flang 22 and 23 call in the device code that it makes for x86-64.
 * They are those of LLVM's device runtime for GPUs, which LLVM does not have for x86-64; all others
 * that it calls are libomp's. On a GPU a region runs as many teams of many threads from its first
 * instruction on. Here one thread enters it, which is the initial thread of its only team, and
 * parallel regions fork threads by libomp.
 *
 * All of them may be called by any number of threads and regions at once. */
#ifndef DEVICE_FLANG_H
#define DEVICE_FLANG_H

#include <stdbool.h>
#include <stdint.h>

#include "device/libomp.h"

/* What the compiler knows of a region. Bounds are 0 or -1 where it knows none. flang 23 has nothing
 * of reductions, so what follows lies elsewhere. */
struct kernel_environment {
    uint8_t generic_state_machine;
    uint8_t nested_parallelism;
    uint8_t mode; /* KERNEL_COMBINED: the region is one combined construct */
    int32_t threads_least, threads_most;
    int32_t teams_least, teams_most;
    int32_t reduction_bytes, reduction_buffers;
    struct ident *where;
    void *dynamic;
};

enum { KERNEL_COMBINED = 2 };

/* Begins a region on the calling thread; launch: see launch.h. Returns -1: the caller goes on with
 * the region's code. */
int32_t __kmpc_target_init(const struct kernel_environment *kernel, void *launch);
void __kmpc_target_deinit(void);

/* Runs outlined(&thread, &bound, arguments[0], ...) on every thread of a new team and waits for
 * them; only on the calling thread if condition is 0. threads and bind are -1 where the program
 * does not say. wrapper is for GPUs. strict: fewer threads than asked for are an error. */
void __kmpc_parallel_60(struct ident *where, int32_t thread, int32_t condition, int32_t threads,
                        int32_t bind, void *outlined, void *wrapper, void **arguments,
                        int64_t count, int32_t strict);

/* Loops: body(i, argument) for each i from 0 to iterations - 1, exactly once.
 *
 * for: shared out among the threads of the team, which all call it; they leave it together.
 * distribute: shared out among the teams; there is one, so the caller does all.
 * distribute_for: shared out among the threads of all teams; there is one team.
 *
 * A chunk of 0 stands for none given. one_each says that there are at least as many threads as
 * iterations. */
#define DEVICE_LOOPS(suffix, type)                                                                 \
    void __kmpc_for_static_loop_##suffix(struct ident *where, void (*body)(type, void *),          \
                                         void *argument, type iterations, type threads,            \
                                         type chunk, int8_t one_each);                             \
    void __kmpc_distribute_static_loop_##suffix(struct ident *where, void (*body)(type, void *),   \
                                                void *argument, type iterations, type team_chunk,  \
                                                int8_t one_each);                                  \
    void __kmpc_distribute_for_static_loop_##suffix(                                               \
        struct ident *where, void (*body)(type, void *), void *argument, type iterations,          \
        type threads, type team_chunk, type chunk, int8_t one_each)

DEVICE_LOOPS(4, int32_t);
DEVICE_LOOPS(4u, uint32_t);
DEVICE_LOOPS(8, int64_t);
DEVICE_LOOPS(8u, uint64_t);

#undef DEVICE_LOOPS

/* These take the place of libomp's in a device image: its ordered construct knows only loops that
 * it has shared out itself, and what it says of the device holds for programs. */
void __kmpc_ordered(struct ident *where, int32_t thread);
void __kmpc_end_ordered(struct ident *where, int32_t thread);
int omp_is_initial_device(void);
int omp_is_initial_device_(void);

/* Memory for variables of a region, since flang 23. */
void *__kmpc_alloc_shared(uint64_t bytes);
void __kmpc_free_shared(void *memory, uint64_t bytes);
void __kmpc_get_shared_variables(void ***variables);

#endif
