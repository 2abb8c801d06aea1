/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mpi.h: bulk data through one-sided operations on the dynamic window. See control/datapath.h.
 */
#ifndef OMPRMA_RMA_MPI_H
#define OMPRMA_RMA_MPI_H

#include "base/deadline.h"
#include "control/datapath.h"
#include "control/world.h"

/* `world` must have a window and outlive the path. `bells` are those of peers on the same host, by
 * rank; NULL, also for all: not known. A transfer to a peer of which they say that it has died
 * stops where it is, and is never done. `deadline` (NULL: none) stays the caller's and limits the
 * calls that may wait for the peer: outside of osc/rdma, a put, a get or a flush may come back only
 * when the peer has entered MPI. Errors: HOST_MEMORY. */
omprma_status_t rma_create(const struct world *world, struct doorbell *const *bells,
                           struct deadline *deadline, struct datapath **path);

#endif
