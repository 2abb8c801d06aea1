/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * completion.h: callbacks of the program that are due, see omprma_queue_notify(). They run when the
 * runtime's lock is released, on the thread that does, one at a time and in order.
 *
 * Thread: with runtime->lock held, except completions_run().
 */
#ifndef OMPRMA_HOST_CORE_COMPLETION_H
#define OMPRMA_HOST_CORE_COMPLETION_H

#include <stdbool.h>
#include <omprma/omprma.h>

struct completion {
    struct completion *next;
    void (*callback)(void *data, omprma_status_t status);
    void *data;
    omprma_status_t status;
};

struct completions {
    struct completion *first, *last;
    bool running; /* some thread calls them, and will look for more */
};

/* For the caller, who frees it unless it comes to a list. NULL: no memory. */
struct completion *completion_make(void (*callback)(void *data, omprma_status_t status),
                                   void *data);

/* One is due; it passes to the list. */
void completions_add(struct completions *list, struct completion *completion);

/* True if the calling thread is to run what is due. */
static inline bool completions_are_due(const struct completions *list)
{
    return list->first && !list->running;
}

/* Takes all that are due; there are some. From now on the calling thread runs them. */
struct completion *completions_take(struct completions *list);

/* Calls and frees them, without the lock. */
void completions_run(struct completion *first);

#endif
