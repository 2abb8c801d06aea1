/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * yield.h: who gives the processor away while nothing comes in. Where processes share
 * processors, mpirun has Open MPI yield whenever a call finds nothing to do. That is right for
 * calls that wait, and all wrong for calls that look: who polls with MPI_Test then loses the
 * processor at each look. The loops of omprma poll for some microseconds, then yield or sleep by
 * themselves, so MPI is kept from it except where one of its calls waits. A call that waits for
 * long naps between its yields, as the loops of omprma do, see waiting.h.
 *
 * Thread: whoever may call MPI.
 */
#ifndef OMPRMA_CONTROL_MPI_YIELD_H
#define OMPRMA_CONTROL_MPI_YIELD_H

#include <stdbool.h>

/* Looks whether this MPI yields and lets itself be told. If not, mpi_yield_allow() does nothing,
 * and at verbosity 2 a line says so. `always`: all calls may yield, because the peers need the
 * processor at any time, and only the naps are ours. After MPI_Init. */
void mpi_yield_find(bool always);

/* Allows MPI to yield, or not. Only for programs whose MPI calls are all ours. Some nanoseconds. */
void mpi_yield_allow(bool allow);

#endif
