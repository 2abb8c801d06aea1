/*
 * trace.h: a timeline of operations for --trace, written at the end as Chrome trace JSON (open it
 * in a browser's tracing page). Costs one test of a flag when it is off.
 */
#ifndef OMPRMA_HOST_TRACE_H
#define OMPRMA_HOST_TRACE_H

#include <omprma/omprma.h>

struct runtime;

/* Starts recording if OMPRMA_TRACE is set. Errors: HOST_MEMORY, CONFIG (the file cannot be made).
 */
omprma_status_t trace_open(struct runtime *runtime);

/* The time if recording, else 0. */
int64_t trace_now(struct runtime *runtime);

/* Adds a span. `name` and `path` are static strings. */
void trace_add(struct runtime *runtime, const char *name, const char *path, int device,
               int64_t begin_ns, int64_t end_ns, uint64_t bytes);

/* Writes the file and stops recording. */
void trace_close(struct runtime *runtime);

#endif
