/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * task.h: nowait constructs as tasks. To libomp each is a task of a helper thread, which waits for
 * it or asks about it. The program's calls that make such tasks, and those that wait for tasks,
 * come here first, because omprma-run has this library preloaded: the task is put in order here
 * (depend.h), is issued by whoever finds that it may begin, and is in flight then (flight.h), with
 * no thread that waits. Threads that wait for tasks let flights land.
 *
 * libomp knows all about tasks of the host, and we do not. So from the moment a program has one
 * with dependences, libomp puts all tasks in order, and handle.h is the way; the same where
 * something is missing for this one. -v says which way was chosen, and why.
 *
 * Thread: any function from any thread.
 */
#ifndef OMPRMA_OPENMP_TASK_TASK_H
#define OMPRMA_OPENMP_TASK_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openmp/abi/libomp.h"

struct work;

/* Can the nowait construct that the calling thread issues be left in flight? Else it has to be
 * waited for. Blocks: no. */
bool task_may_leave(void);

/* Is the construct a task of its own, that the calling thread waits for, and nothing else asks for
 * copies of reductions meanwhile? */
bool task_is_waited(void);

/* Leaves its work, which has departed, in flight. Blocks: no. */
void task_leave(struct work *work);

/* Does the task of the construct that the calling thread issues depend on an address in [begin,
 * end), by `in` or, with `by_in` false, in another way? Without nowait it has no task: false.
 * Blocks: no. */
bool task_names(uintptr_t begin, uintptr_t end, bool by_in);

/* The device that a construct means which says `device`: -1 is what was the default when the task
 * was made. Blocks: no. */
int64_t task_device(int64_t device);

/* Does libomp have tasks? */
bool tasks_possible(void);

/* A task of the host, for __kmpc_omp_task_with_deps(), that a helper thread of libomp's will run.
 * NULL: no memory. Blocks: no. */
struct task *task_for_helper(int32_t thread, size_t bytes, task_routine_t *routine);

/* Waits for the calling thread's tasks, begun or not, and for constructs of all threads that are in
 * flight, those for at most a minute: libomp ends without looking at them, and then waits for them
 * for ever. When that takes long, a line says so once. Before images are taken back. Blocks: yes.
 */
void tasks_end(void);

#endif
