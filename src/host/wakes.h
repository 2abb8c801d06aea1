/*
 * wakes.h: who is to be woken when the runtime's lock is released. Where processors are
 * shared, a thread that is woken often gets the processor of the one who wakes it at once. If that
 * one held the lock, everybody would stand still until it runs again.
 *
 * Thread: with runtime->lock held, except wakes_run().
 */
#ifndef OMPRMA_HOST_WAKES_H
#define OMPRMA_HOST_WAKES_H

#include <semaphore.h>
#include <stdbool.h>

#include "control/doorbell.h"

enum { WAKES_BELLS = 8 };

/* A thread that waits while another makes progress for all. */
struct waiter {
    struct waiter *next;
    bool (*done)(const void *);
    const void *data;
    bool is_heir; /* it was woken to drive */
    sem_t wake;
};

struct wakes {
    bool any;
    int bell_count;
    struct doorbell *bells[WAKES_BELLS];
    struct waiter *waiters;
    sem_t *background; /* of the thread in background.c; NULL: it is not to be woken */
};

/* The peer behind a bell, to whom a message was just sent, if it sleeps. NULL: it has none. */
void wakes_add_bell(struct wakes *wakes, struct doorbell *bell);

/* A thread of ours. It is on no other list. */
void wakes_add_waiter(struct wakes *wakes, struct waiter *waiter);

static inline void wakes_add_background(struct wakes *wakes, sem_t *wake)
{
    wakes->background = wake;
    wakes->any = true;
}

/* Wakes them all. To be called on a copy, without the lock. */
void wakes_run(struct wakes *wakes);

#endif
