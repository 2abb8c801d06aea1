/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wakeups.c: bells and waiting threads are noted while the lock is held, and woken by whoever has
 * released it. A bell beyond the fixed number of them is rung at once.
 */
#include "host/core/wakeups.h"

void wakeups_add_bell(struct wakeups *wakeups, struct doorbell *bell)
{
    if (wakeups->bell_count == WAKEUPS_BELLS) {
        doorbell_ring(bell);
        return;
    }
    wakeups->bells[wakeups->bell_count++] = bell;
    wakeups->any = true;
}

void wakeups_add_waiter(struct wakeups *wakeups, struct waiter *waiter)
{
    waiter->next = wakeups->waiters;
    wakeups->waiters = waiter;
    wakeups->any = true;
}

void wakeups_run(struct wakeups *wakeups)
{
    struct waiter *next;

    for (int i = 0; i < wakeups->bell_count; i++)
        doorbell_ring(wakeups->bells[i]);
    for (struct waiter *waiter = wakeups->waiters; waiter; waiter = next) {
        next = waiter->next; /* once woken, it may be gone */
        sem_post(&waiter->wake);
    }
    if (wakeups->background)
        sem_post(wakeups->background);
}
