/*
 * reduction.h: reductions over tasks (task_reduction, reduction(task, ...), taskloop) that have
 * begun and whose taskgroup has not ended. clang lets a region with in_reduction map the variable
 * that the reduction itself uses, or the private copy of a host's thread: no two such regions may
 * be under way, and their maker must not go on meanwhile. A region says that it is one by asking
 * libomp for its private copy before.
 *
 * Taskgroups are told by the task that they belong to, because an untied task may begin one in one
 * thread and end it in another.
 *
 * Thread: any function from any thread. Blocks: reduction_enter(). Errors: without memory the
 * process ends, after a line.
 */
#ifndef OMPRMA_OPENMP_REDUCTION_H
#define OMPRMA_OPENMP_REDUCTION_H

#include <stdbool.h>
#include <stdint.h>

/* Has any begun that has not ended? */
bool reduction_any(void);

/* One begins in the taskgroup that this task has begun last; `seen`: by
 * reduction_taskgroup_begin(), if there was any at that time. */
void reduction_begin(uint64_t task, bool seen);

/* The task begins a taskgroup, or ends the last one. */
void reduction_taskgroup_begin(uint64_t task);
void reduction_taskgroup_end(uint64_t task);

/* The calling thread has asked for a private copy; or what it does from now on is another task's.
 */
void reduction_ask(bool asked);

/* Does the construct that the calling thread is about to do take part in one? Once. */
bool reduction_takes_part(void);

/* Around such a construct: one at a time. */
void reduction_enter(void);
void reduction_leave(void);

#endif
