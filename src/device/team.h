/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* team.h: what the threads of a parallel region share, and where a thread finds it. Belongs to
 * parallel.c; loops.c looks at it for ordered constructs. */
#ifndef DEVICE_TEAM_H
#define DEVICE_TEAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct team {
    void *outlined;
    void **arguments;
    int64_t count; /* of arguments */
    /* One per thread: loops that it has left. Written by that thread only. */
    atomic_uint loops[];
};

/* Of the innermost parallel region that the calling thread is in, or NULL. */
extern _Thread_local struct team *team_current;

/* Whether the calling thread is in a loop that its team shares out, of loops.c. */
extern _Thread_local bool team_looping;

#endif
