/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reduction.h: reductions over tasks (task_reduction, reduction(task, ...), taskloop) that have
 * begun and whose taskgroup has not ended. A nowait region with in_reduction asks libomp for the
 * private copy of the thread that issues it, as a task of the host does; but clang lets it map the
 * variable that the reduction itself uses, or the private copy of the thread that made it. So the
 * copy takes that one's place, and the thread waits. Of a section of an array the variable itself
 * is mapped: no two such regions may be under way.
 *
 * Taskgroups are told by the task that they belong to, because an untied task may begin one in one
 * thread and end it in another.
 *
 * Thread: any function from any thread. Blocks: reduction_enter(). Errors: without memory the
 * process ends, after a line.
 */
#ifndef OMPRMA_OPENMP_TASK_REDUCTION_H
#define OMPRMA_OPENMP_TASK_REDUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Has any begun that has not ended? */
bool reduction_any(void);

/* One begins in the taskgroup that this task has begun last; `seen`: by
 * reduction_taskgroup_begin(), if there was any at that time. */
void reduction_begin(uint64_t task, bool seen);

/* The task begins a taskgroup, or ends the last one. */
void reduction_taskgroup_begin(uint64_t task);
void reduction_taskgroup_end(uint64_t task);

/* The calling thread has asked for its private copy of the variable at `data`, in this reduction of
 * libomp's (NULL: libomp finds it), and has got this one. */
void reduction_ask(const void *group, const void *data, void *copy);

/* What the thread has asked for is no business of what it does from now on. */
void reduction_forget(void);

/* Has the calling thread asked for any, so that the construct that it is about to do may take part
 * in one? */
bool reduction_takes_part(void);

/* The copy that the thread has got of what such a construct maps, or `data` itself. */
void *reduction_copy(void *data);

/* Is what such a construct maps here what others may map, too? That is a variable for which the
 * thread has asked, not the copy that it has got; or the reduction itself, which clang passes to
 * regions with in_reduction, and to no others. Without either in sight: anything may be. */
bool reduction_shares(const void *begin, size_t bytes);

/* Around a construct that maps such: one at a time. */
void reduction_enter(void);
void reduction_leave(void);

#endif
