/* bench.h: the worker's half of bare MPI measurements (omprma-perf). See control/mpi_bench.h. */
#ifndef OMPRMA_WORKER_BENCH_H
#define OMPRMA_WORKER_BENCH_H

#include "worker/session.h"

/* Runs one WIRE_BENCH command and replies when it is over. */
void bench_run(const struct stream *stream, const struct wire_record *record);

#endif
