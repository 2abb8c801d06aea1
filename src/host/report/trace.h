/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * trace.h: a timeline for --trace, written at the end as Chrome trace JSON (for ui.perfetto.dev or
 * a browser's tracing page): per device a track of kernels, of transfers, of waits, of messages and
 * of other commands; and a track of regions, from which an arrow leads to each of their parts. What
 * overlaps on a track gets a further one.
 *
 * Kernels, exchanges and copies that workers make stand on these tracks as they ran there: workers
 * tell when, and their clocks are brought to this side's (by halves of round trips; within a host
 * it is the same clock). What this side saw of them, from the message to the result, stands among
 * the commands then. Everything else is what this side sees, a kernel that did not end, too.
 *
 * What belongs to one region: everything that is appended to a queue until somebody knows that the
 * queue is idle, or until it is idle and something is appended behind a launch.
 *
 * An observer of operations (observer.h), which is registered while it records.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_REPORT_TRACE_H
#define OMPRMA_HOST_REPORT_TRACE_H

#include <omprma/omprma.h>

struct runtime;
struct trace;

/* Starts recording if OMPRMA_TRACE is set. Errors: HOST_MEMORY, CONFIG (the file cannot be made).
 */
omprma_status_t trace_open(struct runtime *runtime);

/* A look at a worker's clock. */
struct trace_clock {
    int64_t at_ns;     /* by this side's */
    int64_t ahead_ns;  /* of this side's */
    int64_t within_ns; /* so exact; -1: there was no answer */
};

/* The first look at the clock of the worker of a rank, or a later one; see clocks.h. */
void trace_clock(struct trace *trace, int rank, const struct trace_clock *clock);

/* Nothing is recorded between the two. */
void trace_pause(struct runtime *runtime);
void trace_resume(struct runtime *runtime);

/* Writes the file and stops recording. */
void trace_close(struct runtime *runtime);

#endif
