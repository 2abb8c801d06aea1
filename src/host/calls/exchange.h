/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * exchange.h: device to device. Which way the data goes, and what the ways have in common.
 *
 * - put: the source puts into the destination's window
 * - get: the destination gets from the source's window
 * - send: the source sends, the destination receives
 * - copy to: within a host, with auto only: the source has mapped the destination's arena, and
 *   copies
 * - application: through the application's memory, see staged.c
 *
 * Put and get need both ends in arenas. Data of devices that cannot be touched stops in staging
 * memory on its way, which is put or sent; see staged.c. Data within one worker is copied by it.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_CALLS_EXCHANGE_H
#define OMPRMA_HOST_CALLS_EXCHANGE_H

#include "host/calls/pair.h"

/* Appends an exchange to its queue. *arrived: a reference to the operation, there or in a queue of
 * our own on the destination, with whose end the data has come; the exchange's queue does not wait
 * for another queue's by itself. Errors: HOST_MEMORY. */
omprma_status_t exchange_append(const struct exchange *exchange, struct operation **arrived);

/* "put", "get", "send" or "application". */
const char *exchange_way_name(enum config_exchange way);

/* The ways between devices of this pair: those of one host, or those of different hosts. */
struct exchange_paths *exchange_paths_of(const struct device *from, const struct device *to);

#endif
