/* mpi_channel.h: the control channel over MPI. See channel.h. */
#ifndef OMPRMA_CONTROL_MPI_CHANNEL_H
#define OMPRMA_CONTROL_MPI_CHANNEL_H

#include "control/channel.h"
#include "control/world.h"

/* `world` must outlive the channel. `own` is rung by peers; `bells[peer]` (entries may be NULL)
 * ring peers that sleep after each message; NULL if the caller rings them. Both stay the caller's.
 * `remote_ns` bounds a sleep when `can_sleep` is false, i.e. when some peer that may send cannot
 * ring. Errors: HOST_MEMORY, MPI. */
omprma_status_t mpi_channel_create(const struct world *world, struct doorbell *own,
                                   struct doorbell **bells, bool can_sleep, int64_t remote_ns,
                                   struct channel **channel);

#endif
