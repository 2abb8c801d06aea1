/*
 * rma.h: bulk data through one-sided operations on the dynamic window. See control/datapath.h.
 */
#ifndef OMPRMA_RMA_RMA_H
#define OMPRMA_RMA_RMA_H

#include "control/datapath.h"
#include "control/world.h"

/* `world` must have a window and outlive the path. Errors: HOST_MEMORY. */
omprma_status_t rma_create(const struct world *world, struct datapath **path);

#endif
