/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* slice.h: how soon a thread that is woken gets a processor that others keep busy. */
#ifndef OMPRMA_BASE_SLICE_H
#define OMPRMA_BASE_SLICE_H

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLICE_NS = 200000 };

/* The calling thread, and those that it makes later, have short slices: Linux 6.12 and newer let it
 * in before the slice of whoever runs is over, some milliseconds; older ones ignore the wish.
 * Returns 0, or the errno of a kernel that refuses. Blocks: no. */
static inline int slice_shorten(void)
{
    /* The kernel's struct sched_attr, whose header does not go together with <sched.h>. */
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice_ns, deadline_ns, period_ns;
    } attr = {.size = sizeof(attr)};

    if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) != 0 || attr.policy != SCHED_OTHER)
        return 0;
    attr.slice_ns = SLICE_NS;
    return syscall(SYS_sched_setattr, 0, &attr, 0) == 0 ? 0 : errno;
}

#endif
