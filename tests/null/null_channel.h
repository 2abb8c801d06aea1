/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * null_channel.h: a control channel between threads of one process, so that the core and worker
 * servers can be run, and watched by sanitizers, without MPI. Messages are handed over, not copied.
 * Knows nothing of what messages mean.
 */
#ifndef OMPRMA_TESTS_NULL_CHANNEL_H
#define OMPRMA_TESTS_NULL_CHANNEL_H

#include "control/channel.h"

/* What connects the ranks 0..ranks-1 of one process. */
struct null_network;

/* Errors: HOST_MEMORY. */
omprma_status_t null_network_create(int ranks, struct null_network **network);

/* After all channels of it are destroyed; drops what was sent and never received. */
void null_network_destroy(struct null_network *network);

/* The end of one rank; each rank has one. Errors: HOST_MEMORY. */
omprma_status_t null_channel_create(struct null_network *network, int rank,
                                    struct channel **channel);

/* From now on what this end sends to `peer`, or what it receives, fails as if MPI had refused it.
 */
void null_channel_fail_sends(struct channel *channel, int peer);
void null_channel_fail_receives(struct channel *channel);

#endif
