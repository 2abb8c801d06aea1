/*
 * exchange.h: device to device. Which way the data goes, and what the ways have in common.
 *
 *   put           the source puts into the destination's window
 *   get           the destination gets from the source's window
 *   send          the source sends, the destination receives
 *   application   through the application's memory, see relay.h
 *
 * Put and get need both ends in arenas. Data within one worker is copied by it.
 *
 * Thread: see runtime.h.
 */
#ifndef OMPRMA_HOST_EXCHANGE_H
#define OMPRMA_HOST_EXCHANGE_H

#include "host/device.h"
#include "host/queue.h"

/* One exchange; ranges are checked. */
struct exchange {
    struct omprma_queue *queue; /* of the source */
    struct device *to_device;
    omprma_addr_t from, to;
    uint64_t bytes;
    bool from_arena, to_arena;
};

/* Appends an exchange to its queue. *arrived: a reference to the operation, there or in a queue of
 * our own on the destination, with whose end the data has come; the exchange's queue does not wait
 * for another queue's by itself. Errors: HOST_MEMORY. */
omprma_status_t exchange_append(const struct exchange *exchange, struct operation **arrived);

/* "put", "get", "send" or "application". */
const char *exchange_way_name(enum config_exchange way);

/* The ways between devices of this pair: those of one host, or those of different hosts. */
struct exchange_paths *exchange_paths_of(const struct device *from, const struct device *to);

/* Takes a queue of a device for a part of the work of another, to be given back by
 * exchange_let_go(). It waits for all that `after` (NULL allowed) holds now. Errors: HOST_MEMORY.
 */
omprma_status_t exchange_helper(struct device *device, struct omprma_queue *after,
                                struct omprma_queue **helper);

/* Lets the helper run; it goes back to its device by itself. If `status` is an error, nothing of it
 * runs. Returns `status`. */
omprma_status_t exchange_let_go(struct omprma_queue *helper, omprma_status_t status);

#endif
