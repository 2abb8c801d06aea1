/*
 * relay.h: the way of an exchange through the application's memory, for devices that cannot reach
 * each other: the application retrieves part after part from the source and submits them to the
 * destination. Two parts are under way at a time; memory is bounded by RELAYS_MOST. A part is what
 * OMPRMA_PIECE says, or less.
 *
 * Thread: see runtime.h.
 */
#ifndef OMPRMA_HOST_RELAY_H
#define OMPRMA_HOST_RELAY_H

#include "host/exchange.h"

enum {
    RELAY_PART_MOST = 4 << 20,
    RELAYS_MOST = 4 /* exchanges at a time; a further one waits */
};

struct relay;

/* As exchange_append(). Blocks while RELAYS_MOST others are under way.
 * Errors: HOST_MEMORY, what the queue failed with meanwhile. */
omprma_status_t relay_start(const struct exchange *exchange, struct queue_place *arrived);

/* One of its two queues is over; the last one ends it. */
void relay_drop(struct relay *relay, struct runtime *runtime);

#endif
