/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bench.h: bare MPI between application and worker, see control/bench.h. Messages go over the data
 * communicator with BENCH_TAG.
 */
#ifndef OMPRMA_CONTROL_MPI_BENCH_H
#define OMPRMA_CONTROL_MPI_BENCH_H

#include "control/bench.h"

extern const struct bench_ops mpi_bench;

#endif
