/*
 * mpi_hub.h: what start-up tells between one process, the hub, and all others, point to point. No
 * other two processes send each other anything, as MPI's collectives would have them do, so it
 * works where only the hub can be reached. Each call is made by all processes; the hub's cost grows
 * with their number, by two messages of some hundred bytes each.
 */
#ifndef OMPRMA_CONTROL_MPI_HUB_H
#define OMPRMA_CONTROL_MPI_HUB_H

#include <stdbool.h>
#include <stddef.h>

#include "control/world.h"

/* Everybody's `bytes` at `mine` to the hub's `all`, in order of ranks. An MPI error code. */
int hub_gather(const struct world *world, int hub, const void *mine, void *all, size_t bytes);

/* The same where each process says how much: the hub's all[rank] has room for all_bytes[rank]. */
int hub_collect(const struct world *world, int hub, const void *mine, size_t bytes,
                void *const *all, const size_t *all_bytes);

/* The reverse: from the hub's `all` to everybody's `mine`. */
int hub_scatter(const struct world *world, int hub, const void *all, void *mine, size_t bytes);

/* The same `bytes` from the hub to everybody. */
int hub_spread(const struct world *world, int hub, void *data, size_t bytes);

/* Whether any process says true. */
int hub_any(const struct world *world, int hub, bool mine, bool *any);

#endif
