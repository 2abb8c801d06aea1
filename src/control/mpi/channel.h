/* channel.h: the control channel over MPI, see control/channel.h. */
#ifndef OMPRMA_CONTROL_MPI_CHANNEL_H
#define OMPRMA_CONTROL_MPI_CHANNEL_H

#include "control/channel.h"
#include "control/shm/fifo.h"
#include "control/world.h"

enum { MPI_CHANNEL_SHARED_BYTES = 2 * FIFO_BYTES };

/* `world` must outlive the channel. `own` is rung by peers; `bells[peer]` (entries may be NULL)
 * ring peers that sleep after each message; NULL if the caller rings them. Both stay the caller's.
 * `remote_ns` bounds a sleep when `can_sleep` is false, i.e. when some peer that may send cannot
 * ring. Errors: HOST_MEMORY, MPI. */
omprma_status_t mpi_channel_create(const struct world *world, struct doorbell *own,
                                   struct doorbell **bells, bool can_sleep, int64_t remote_ns,
                                   struct channel **channel);

/* From now on short messages to and from `peer` may go through `memory`, which both have mapped:
 * MPI_CHANNEL_SHARED_BYTES, zero at first, of one of the two (`is_owner`). They do when both have
 * said so. It outlives the channel. The order of messages is kept. Once per peer. */
void mpi_channel_share(struct channel *channel, int peer, void *memory, bool is_owner);

#endif
