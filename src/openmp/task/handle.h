/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * handle.h: nowait constructs that are under way and that libomp asks about. From 16 on it offers a
 * place for a handle to the task that it runs; a task that has left one there is put back when it
 * returns, and libomp asks about the handle, again and again, until the place is empty. For
 * programs whose tasks libomp has to put in order, see task.h.
 *
 * Thread: any function from any thread. Errors: a construct that fails ends the process.
 */
#ifndef OMPRMA_OPENMP_TASK_HANDLE_H
#define OMPRMA_OPENMP_TASK_HANDLE_H

#include <stdbool.h>

#include "openmp/run/work.h"

/* Can the calling thread's task be left? Blocks: no. */
bool handle_possible(void);

/* Leaves the work, which has departed, in its place. Blocks: no. */
void handle_leave(struct work *work);

/* Empties the place if its work is over. Blocks: for some microseconds, when it is the oldest one
 * in flight. */
void handle_query(void **place);

#endif
