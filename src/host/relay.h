/*
 * relay.h: the way of an exchange through the application's memory, for devices that cannot reach
 * each other: the application retrieves part after part from the source and submits them to the
 * destination. Two parts are under way at a time. A part is what OMPRMA_PIECE says, or less.
 *
 * A relay is an item of the source's queue. It waits there, without memory, until everything before
 * it is complete, and then for its turn: RELAYS_MOST have memory at a time. Those need nothing any
 * more but the two workers' answers, so they end, and the next one has its turn.
 *
 * Thread: see runtime.h.
 */
#ifndef OMPRMA_HOST_RELAY_H
#define OMPRMA_HOST_RELAY_H

#include "host/exchange.h"

enum {
    RELAY_PART_MOST = 4 << 20,
    RELAYS_MOST = 4 /* with memory at a time; a further one waits */
};

struct relay;

/* As exchange_append(). */
omprma_status_t relay_append(const struct exchange *exchange, struct queue_place *arrived);

/* Everything before it is complete: starts it if it is its turn. If not, its queue gets attention
 * when it is. Errors: HOST_MEMORY, what the destination was lost with; then it will not start. */
omprma_status_t relay_start(struct relay *relay, bool *started);

/* Goes on with one that was started. *done: it is over, and nothing of it is under way. Errors:
 * what one of its devices has failed with, once; it must still be gone on with until it is done. */
omprma_status_t relay_advance(struct relay *relay, bool *done);

/* The device that it writes to. */
const struct device *relay_target(const struct relay *relay);

/* Ends one that was not started or is over. The next one has its turn. */
void relay_end(struct relay *relay);

/* Frees one whose runtime ends: touches nothing else. */
void relay_free(struct relay *relay);

#endif
