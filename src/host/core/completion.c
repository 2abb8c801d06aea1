/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * completion.c: a list in order. Whoever releases the lock takes all of it along and calls back
 * without the lock; who comes meanwhile only appends, so callbacks never overlap.
 */
#include "host/core/completion.h"

#include <stdlib.h>

struct completion *completion_make(void (*callback)(void *data, omprma_status_t status), void *data)
{
    struct completion *completion = malloc(sizeof(*completion));

    if (completion)
        *completion = (struct completion){.callback = callback, .data = data};
    return completion;
}

void completions_add(struct completions *list, struct completion *completion)
{
    completion->next = NULL;
    if (list->last)
        list->last->next = completion;
    else
        list->first = completion;
    list->last = completion;
}

struct completion *completions_take(struct completions *list)
{
    struct completion *first = list->first;

    list->first = list->last = NULL;
    list->running = true;
    return first;
}

void completions_run(struct completion *first)
{
    while (first) {
        struct completion *next = first->next;

        first->callback(first->data, first->status);
        free(first);
        first = next;
    }
}
