/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * channel.h: a control channel that wraps another one, the inner one. Short messages between
 * processes of a host go through shared memory; all others go through the inner channel. It rings
 * peers that sleep, and sleeps until it is rung. See control/channel.h. Knows nothing of MPI.
 */
#ifndef OMPRMA_CONTROL_SHM_CHANNEL_H
#define OMPRMA_CONTROL_SHM_CHANNEL_H

#include "control/channel.h"
#include "control/shm/doorbell.h"
#include "control/shm/fifo.h"

enum { SHM_CHANNEL_BYTES = 2 * FIFO_BYTES };

/* The bells stay the caller's, and outlive the channel. */
struct shm_options {
    int ranks;
    struct doorbell *own;    /* peers ring it */
    struct doorbell **bells; /* of the peers, by rank; NULL: it cannot be rung */
    /* Called after each message to a peer that sleeps, to ring it, at once or soon. NULL: it is
     * rung at once. */
    void (*ring)(void *data, struct doorbell *bell);
    void *data;
    int64_t longest_ns; /* no sleep is longer, for somebody who may send cannot ring */
    bool descriptors; /* sleeps are at those of the inner channel and of one's bell, which uses them
                       */
    bool is_awaited;  /* others wait until the inner channel is looked at: it is, more often */
};

/* Takes `inner` over, also on an error. Errors: HOST_MEMORY. */
omprma_status_t shm_channel_create(struct channel *inner, const struct shm_options *options,
                                   struct channel **channel);

/* From now on short messages to and from `peer` may go through `memory`, which both have mapped:
 * SHM_CHANNEL_BYTES, zero at first, of one of the two (`is_owner`). They do when both have said so.
 * It outlives the channel. The order of messages is kept. Once per peer. */
void shm_channel_share(struct channel *channel, int peer, void *memory, bool is_owner);

#endif
