/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * record.h: records what a program does for --trace and --stats, as an observer of operations
 * (observer.h): the regions, what they cost and, for --trace, their parts. What was recorded, and
 * where, is recording.h's.
 *
 * What belongs to one region: everything that is appended to a queue until somebody knows that the
 * queue is idle, or until it is idle and something is appended behind a launch.
 *
 * Workers tell when they ran a command by their own clock. What this side saw of it lies around
 * that.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_REPORT_RECORD_H
#define OMPRMA_HOST_REPORT_RECORD_H

#include "host/core/runtime.h"
#include "report/recording.h"

struct recorder;

/* Records from now on, if OMPRMA_TRACE, OMPRMA_STATS or OMPRMA_STATS_FILE is set: into memory that
 * omprma-run has shared, `shared`, or into its own where that is NULL. Errors: HOST_MEMORY; CONFIG,
 * a file cannot be made. */
omprma_status_t record_open(struct runtime *runtime, struct recording *shared);

/* What is recorded; NULL: nothing. */
struct recording *recording_of(const struct runtime *runtime);

/* Of a device, by its number; only where something is recorded. */
const struct stats *stats_of(const struct runtime *runtime, int device);

/* The first look at the clock of the worker of a rank, or a later one; see clocks.h. */
void record_clock(struct runtime *runtime, int rank, const struct trace_clock *clock);

/* Nothing is recorded between the two. */
void record_pause(struct runtime *runtime);
void record_resume(struct runtime *runtime);

/* Notes which devices are lost, and what faces have counted (omprma_private/notes.h). Comes before
 * workers are told to go: then all are lost. */
void record_losses(struct runtime *runtime);

/* Stops recording. Without omprma-run, reports; omprma-run does else. */
void record_close(struct runtime *runtime);

#endif
