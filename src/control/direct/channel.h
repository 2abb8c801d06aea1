/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * channel.h: control messages over a socket to each peer: what is too long for shared memory, or
 * finds no room there. It does not sleep: see control/shm/channel.h.
 */
#ifndef OMPRMA_CONTROL_DIRECT_CHANNEL_H
#define OMPRMA_CONTROL_DIRECT_CHANNEL_H

#include "control/channel.h"
#include "control/world.h"

/* The world must outlive it. A peer that ends without having said that it would is an error of
 * channel_receive(), once: DEVICE_LOST in the program, CLOSED in a worker. Errors: HOST_MEMORY. */
omprma_status_t direct_channel_create(const struct world *world, struct channel **channel);

#endif
