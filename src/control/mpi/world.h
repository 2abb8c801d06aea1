/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* world.h: what of a world is MPI's. Only for files that speak MPI themselves. */
#ifndef OMPRMA_CONTROL_MPI_WORLD_H
#define OMPRMA_CONTROL_MPI_WORLD_H

#include <mpi.h>

#include "control/library/quirks.h"
#include "control/world.h"

struct world_mpi {
    MPI_Comm control; /* control messages only; in a star both are MPI_COMM_WORLD */
    MPI_Comm data;    /* two-sided data only */
    MPI_Win window;   /* MPI_WIN_NULL if there is none */
    unsigned quirks;  /* of the window; a set of enum quirk_id bits */
    bool *near;       /* by rank: it shares memory with this one; only where a quirk asks for it */
};

/* Fails with the words of MPI: "<what>: <MPI's text>". */
omprma_status_t world_error(int code, const char *what);

/* See control/transport.h. */
void mpi_library(char *text, size_t bytes);
void mpi_prepare(bool is_worker);
void mpi_print_quirks(const struct world *world, const char *title, FILE *out);
omprma_status_t mpi_start(struct world *world);
omprma_status_t mpi_connect(struct world *world);
omprma_status_t mpi_begin(struct world *world);
void mpi_started(struct world *world);
omprma_status_t mpi_leave(struct world *world);
void mpi_abort(int code);

#endif
