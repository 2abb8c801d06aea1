/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * watch.h: looks at things from time to time, while other threads are in calls that cannot be
 * called off. One thread of the process looks at all that is watched; there is none while nothing
 * is.
 *
 * Thread: begin and end by one thread at a time. Signals are left to the program's own threads.
 */
#ifndef OMPRMA_BASE_WATCH_H
#define OMPRMA_BASE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
    struct watch *next;
    void (*look)(void *data);
    void *data;
    int64_t each_ns, due_ns;
};

/* Calls look(data) now, and again each time that `each_ns` have passed. A look must not begin or
 * end a watch. False: no thread can be made, and nothing is watched. */
bool watch_begin(struct watch *watch, int64_t each_ns, void (*look)(void *data), void *data);

/* Waits for a look that goes on. Does nothing to one that is not watched. */
void watch_end(struct watch *watch);

#endif
