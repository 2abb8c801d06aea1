/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * observer.c: a list, which is short. The next observer is read before one is told, as that may
 * take itself out.
 */
#include "host/core/observer.h"

#include <stddef.h>

void observer_add(struct observer **observers, struct observer *observer)
{
    observer->next = *observers;
    *observers = observer;
}

void observer_remove(struct observer **observers, const struct observer *observer)
{
    while (*observers && *observers != observer)
        observers = &(*observers)->next;
    if (*observers)
        *observers = observer->next;
}

#define TELL(observers, event, ...)                                                                \
    for (struct observer *one = (observers), *next; one; one = next) {                             \
        next = one->next;                                                                          \
        if (one->event)                                                                            \
            one->event(one, __VA_ARGS__);                                                          \
    }

void observers_appended(struct observer *observers, struct operation *operation, bool was_idle)
{
    TELL(observers, appended, operation, was_idle)
}

void observers_issued(struct observer *observers, struct operation *operation)
{
    TELL(observers, issued, operation)
}

void observers_sent(struct observer *observers, struct operation *last, uint32_t bytes)
{
    TELL(observers, sent, last, bytes)
}

void observers_ran(struct observer *observers, struct operation *operation, int64_t begin_ns,
                   int64_t end_ns)
{
    TELL(observers, ran, operation, begin_ns, end_ns)
}

void observers_ended(struct observer *observers, struct operation *operation)
{
    TELL(observers, ended, operation)
}

void observers_waits(struct observer *observers, struct omprma_queue *queue,
                     struct observed_wait *wait)
{
    TELL(observers, waits, queue, wait)
}

void observers_waited(struct observer *observers, struct omprma_queue *queue,
                      const struct observed_wait *wait)
{
    TELL(observers, waited, queue, wait)
}

void observers_rests(struct observer *observers, bool begins)
{
    TELL(observers, rests, begins)
}

void observers_idle(struct observer *observers, struct omprma_queue *queue)
{
    TELL(observers, idle, queue)
}

void observers_carried(struct observer *observers, const struct carried *carried)
{
    TELL(observers, carried, carried)
}
