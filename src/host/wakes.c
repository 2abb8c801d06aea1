/* wakes.c: see wakes.h. */
#include "host/wakes.h"

void wakes_add_bell(struct wakes *wakes, struct doorbell *bell)
{
    if (!doorbell_is_asleep(bell))
        return;
    if (wakes->bell_count == WAKES_BELLS) {
        doorbell_ring(bell);
        return;
    }
    wakes->bells[wakes->bell_count++] = bell;
    wakes->any = true;
}

void wakes_add_waiter(struct wakes *wakes, struct waiter *waiter)
{
    waiter->next = wakes->waiters;
    wakes->waiters = waiter;
    wakes->any = true;
}

void wakes_run(struct wakes *wakes)
{
    struct waiter *next;

    for (int i = 0; i < wakes->bell_count; i++)
        doorbell_ring(wakes->bells[i]);
    for (struct waiter *waiter = wakes->waiters; waiter; waiter = next) {
        next = waiter->next; /* once woken, it may be gone */
        sem_post(&waiter->wake);
    }
    if (wakes->background)
        sem_post(wakes->background);
}
