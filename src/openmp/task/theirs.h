/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * theirs.h: constructs that stay tasks of libomp's. libomp puts them in order and has a helper
 * thread run them. What the construct has to know of its task, and libomp would not tell, lies in
 * front of what the task shares.
 *
 * Thread: any function from any thread. Errors: without memory the process ends, after a line.
 */
#ifndef OMPRMA_OPENMP_TASK_THEIRS_H
#define OMPRMA_OPENMP_TASK_THEIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openmp/abi/libomp.h"
#include "openmp/task/depend.h"

/* As libomp's function of the same arguments, which makes a task for a helper thread. Blocks: for a
 * second at most, while libomp makes its helper threads. */
struct task *theirs_alloc(void *location, int32_t thread, int32_t flags, size_t task_bytes,
                          size_t shared_bytes, task_routine_t *routine, int64_t device);

/* The same for a construct. */
struct task *theirs_make(void *location, int32_t thread, int32_t flags, size_t task_bytes,
                         size_t shared_bytes, task_routine_t *routine, int64_t device);

/* The compiler has filled the task, which may be another one than theirs_make()'s, and libomp is
 * about to get it. Blocks: no. */
void theirs_keep(struct task *task, const struct dependences *dependences);

/* Is the calling thread in such a construct, which depends on an address in [begin, end)? As
 * dependences_name() says. Blocks: no. */
bool theirs_names(uintptr_t begin, uintptr_t end, bool by_in);

/* Until helpers_unlock() libomp makes no helper threads: it mistakes threads that come to it
 * meanwhile for those. Not for ever: a routine may compute on the host. False: they are made.
 * Blocks: for a second at most. */
bool helpers_lock(void);
void helpers_unlock(bool locked);

#endif
