/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mpi.h: bulk data through send and receive. A control message told the peer to do its half.
 * See control/datapath.h.
 */
#ifndef OMPRMA_TWOSIDED_MPI_H
#define OMPRMA_TWOSIDED_MPI_H

#include "control/datapath.h"
#include "control/world.h"

/* `world` must outlive the path. Errors: HOST_MEMORY. */
omprma_status_t twosided_create(const struct world *world, struct datapath **path);

#endif
