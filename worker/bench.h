/*
 * bench.h: the worker's half of bare MPI measurements (omprma-perf, start-up measurement): blocking
 * sends and receives without any of our machinery, so that our paths have a limit to be compared
 * to.
 */
#ifndef OMPRMA_WORKER_BENCH_H
#define OMPRMA_WORKER_BENCH_H

#include "control/bench.h"
#include "worker/server.h"

/* Runs one WIRE_BENCH command and replies when it is over. */
void bench_run(struct server *server, struct stream *stream, const struct wire_record *record);

#endif
