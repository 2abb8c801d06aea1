/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * next.h: libomp's functions for which the runtime has some of the same names, which come first,
 * and whether that suffices to put tasks in order here (task.h).
 *
 * Thread: any function from any thread. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_TASK_NEXT_H
#define OMPRMA_OPENMP_TASK_NEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "openmp/abi/exports.h"
#include "openmp/abi/libomp.h"

struct next {
    task_alloc_t *alloc;
    int32_t (*task)(void *, int32_t, struct task *);
    int32_t (*with_deps)(void *, int32_t, struct task *, int32_t, struct dependence *, int32_t,
                         struct dependence *);
    int32_t (*taskwait)(void *, int32_t);
    void (*wait_deps)(void *, int32_t, int32_t, struct dependence *, int32_t, struct dependence *);
    void (*taskwait_deps)(void *, int32_t, int32_t, struct dependence *, int32_t,
                          struct dependence *, int32_t);
    void (*taskgroup)(void *, int32_t);
    void (*end_taskgroup)(void *, int32_t);
    void (*barrier)(void *, int32_t);
    void (*fork_call)(void *, int32_t, void *, ...);
    invoke_t *invoke;
    void (*fork_call_if)(void *, int32_t, microtask_t *, int32_t, void *);
    void *(*taskred)(int32_t, int32_t, void *);
    void *(*taskred_modifier)(void *, int32_t, int32_t, int32_t, void *);
    void (*taskred_end)(void *, int32_t, int32_t);
    void *(*taskred_copy)(int32_t, void *, void *);
    bool possible;       /* tasks can be ours */
    const char *why_not; /* libomp has to see to all tasks; NULL: it need not */
};

/* Never NULL; of a libomp that is missing, its members are. */
const struct next *next_get(void);

#endif
