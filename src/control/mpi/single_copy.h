/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * single_copy.h: whether processes of this host may copy each other's memory. Large messages within
 * a host, and all of osc/rdma there, rest on it. Filters of containers and of batch systems may
 * forbid it; Open MPI 4.1 finds out in the middle of a transfer, which it then repeats for ever.
 */
#ifndef OMPRMA_CONTROL_MPI_SINGLE_COPY_H
#define OMPRMA_CONTROL_MPI_SINGLE_COPY_H

#include <stdbool.h>

#include "control/mpi/quick.h"

/* If not, errno says why. Any thread; does not block. */
bool single_copy_is_allowed(void);

/* For a process that will call MPI_Init: where it is not allowed, Open MPI shall not try, unless
 * the user has said how it copies. */
void single_copy_rank(const struct quick_environment *environment);

#endif
