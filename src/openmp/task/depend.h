/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * depend.h: the order in which nowait constructs may begin, by their dependences. For each address
 * there is a row of groups: those that may run at the same time form one, and a group begins when
 * the one before it has left. Knows nothing of devices and of libomp.
 *
 * What is entered may only wait for what was entered before, so nothing ever waits for itself.
 *
 * Thread: any function from any thread. Blocks: no. Errors: without memory the process ends, after
 * a line.
 */
#ifndef OMPRMA_OPENMP_TASK_DEPEND_H
#define OMPRMA_OPENMP_TASK_DEPEND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "openmp/abi/libomp.h"

/* What has dependences. Its owner keeps the memory until it has left. */
struct ordered {
    STAILQ_ENTRY(ordered) next; /* in a list of those that may begin */
    struct use *uses;
    int32_t use_count;
    int32_t pending; /* uses that have to wait */
};

STAILQ_HEAD(ordered_list, ordered);

/* Lists of dependences, as compilers hand them over, of a task with this parent. Only tasks of one
 * parent depend on each other. */
struct dependences {
    uint64_t parent;
    int32_t count, alias_free_count;
    const struct dependence *list, *alias_free;
};

static inline int32_t dependences_total(const struct dependences *dependences)
{
    return dependences->count + dependences->alias_free_count;
}

/* Of both lists, 0 <= i < dependences_total(). */
static inline const struct dependence *dependence_at(const struct dependences *dependences,
                                                     int32_t i)
{
    return i < dependences->count ? &dependences->list[i]
                                  : &dependences->alias_free[i - dependences->count];
}

/* Does the list name an address in [begin, end), by `in` or, with `by_in` false, in another way?
 * Where an address is named in both ways only the latter is true of it. */
bool dependences_name(const struct dependences *dependences, uintptr_t begin, uintptr_t end,
                      bool by_in);

/* Enters it, after all that was entered so far. True: it may begin now; else it is in the list of a
 * later depend_leave(). Without dependences always true. */
bool depend_enter(struct ordered *ordered, const struct dependences *dependences);

/* It is over. Appends those that may begin now. */
void depend_leave(struct ordered *ordered, struct ordered_list *begin);

/* dependences_name() of one that has been entered, has begun, and has not left. */
bool depend_names(const struct ordered *ordered, uintptr_t begin, uintptr_t end, bool by_in);

/* Has anything with dependences been entered that has not left? */
bool depend_any(void);

#endif
