/*
 * relay.h: the way of an exchange through the application's memory, for devices that cannot reach
 * each other: the application retrieves part after part from the source and submits them to the
 * destination. Two parts are under way at a time. A part is what OMPRMA_PIECE says, or less.
 *
 * It is a task of the source's queue. It waits there, without memory, until everything before it is
 * complete, and then for its turn: RELAYS_MOST have memory at a time. Those need nothing any more
 * but the two workers' answers, so they end, and the next one has its turn.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_RELAY_H
#define OMPRMA_HOST_RELAY_H

#include "host/pair.h"

enum {
    RELAY_PART_MOST = 4 << 20,
    RELAYS_MOST = 4 /* with memory at a time; a further one waits */
};

/* As exchange_append(). */
omprma_status_t relay_append(const struct exchange *exchange, struct operation **arrived);

#endif
