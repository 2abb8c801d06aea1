/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libomp.h: the functions of LLVM's libomp that the device library calls, as its kmp.h declares
 * them. Every thread may call them; __kmpc_barrier() and __kmpc_fork_call() block. The device
 * library is linked into device images, so it knows neither omprma nor MPI, only libomp and libc.
 */
#ifndef DEVICE_LIBOMP_H
#define DEVICE_LIBOMP_H

#include <stdint.h>

/* Where in the source a construct stands; made by the compiler, only passed on here. */
struct ident;

/* What __kmpc_fork_call() runs on each thread of a new team. */
typedef void microtask_fn(int32_t *thread, int32_t *bound, ...);

int32_t __kmpc_global_thread_num(struct ident *where);
void __kmpc_barrier(struct ident *where, int32_t thread);
void __kmpc_fork_call(struct ident *where, int32_t arguments, microtask_fn *task, ...);
void __kmpc_serialized_parallel(struct ident *where, int32_t thread);
void __kmpc_end_serialized_parallel(struct ident *where, int32_t thread);
void __kmpc_push_num_threads(struct ident *where, int32_t thread, int32_t threads);
void __kmpc_push_num_threads_strict(struct ident *where, int32_t thread, int32_t threads,
                                    int32_t severity, const char *message);
void __kmpc_set_thread_limit(struct ident *where, int32_t thread, int32_t limit);
void __kmpc_push_proc_bind(struct ident *where, int32_t thread, int32_t bind);
int omp_get_thread_num(void);
int omp_get_max_threads(void);
int omp_get_thread_limit(void);

#endif
