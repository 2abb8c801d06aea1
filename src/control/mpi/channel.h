/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * channel.h: the control channel over MPI, see control/channel.h. It does not sleep: shm/channel.h
 * wraps it.
 */
#ifndef OMPRMA_CONTROL_MPI_CHANNEL_H
#define OMPRMA_CONTROL_MPI_CHANNEL_H

#include "control/channel.h"
#include "control/world.h"

/* `world` must outlive the channel. Errors: HOST_MEMORY, MPI. */
omprma_status_t mpi_channel_create(const struct world *world, struct channel **channel);

#endif
