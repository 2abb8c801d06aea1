/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wakeups.h: who is to be woken when the runtime's lock is released. Where processors are
 * shared, a thread that is woken often gets the processor of the one who wakes it at once. If that
 * one held the lock, everybody would stand still until it runs again.
 *
 * Thread: with runtime->lock held, except wakeups_run().
 */
#ifndef OMPRMA_HOST_CORE_WAKEUPS_H
#define OMPRMA_HOST_CORE_WAKEUPS_H

#include <semaphore.h>
#include <stdbool.h>

#include "control/shm/doorbell.h"

enum { WAKEUPS_BELLS = 8 };

/* A thread that waits while another makes progress for all. */
struct waiter {
    struct waiter *next;
    bool (*done)(const void *);
    const void *data;
    bool is_heir; /* it was woken to drive */
    sem_t wake;
};

struct wakeups {
    bool any;
    int bell_count;
    struct doorbell *bells[WAKEUPS_BELLS];
    struct waiter *waiters;
    sem_t *background; /* of the thread in background.c; NULL: it is not to be woken */
};

/* The peer behind a bell, which sleeps, and to whom a message was just sent. */
void wakeups_add_bell(struct wakeups *wakeups, struct doorbell *bell);

/* A thread of ours. It is on no other list. */
void wakeups_add_waiter(struct wakeups *wakeups, struct waiter *waiter);

static inline void wakeups_add_background(struct wakeups *wakeups, sem_t *wake)
{
    wakeups->background = wake;
    wakeups->any = true;
}

/* Wakes them all. To be called on a copy, without the lock. */
void wakeups_run(struct wakeups *wakeups);

#endif
