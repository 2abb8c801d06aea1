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
 * Costs one test of runtime->trace per operation when it is off.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_TRACE_H
#define OMPRMA_HOST_TRACE_H

#include "host/operation.h"

struct runtime;
struct trace;

/* What a queue keeps for it. */
struct trace_queue {
    bool begins_regions; /* it is the program's */
    bool launched;       /* its region has a launch */
    uint32_t region;     /* span of the one that it is in; 0: none */
};

/* What is appended from now on belongs to another region. */
static inline void trace_leave_region(struct trace_queue *queue)
{
    queue->launched = false;
    queue->region = 0;
}

/* Where something happens. */
struct trace_place {
    struct runtime *runtime;
    int device;
    uint32_t queue;
    struct trace_queue *of;
};

/* Starts recording if OMPRMA_TRACE is set. Errors: HOST_MEMORY, CONFIG (the file cannot be made).
 */
omprma_status_t trace_open(struct runtime *runtime);

/* The functions below are called while recording only, but for trace_issue(), trace_end() and
 * trace_close(). */

/* An operation was appended to a queue, which was idle before or not. */
void trace_append(const struct trace_place *place, struct operation *operation, bool was_idle);

/* What a launch calls. The name is copied. */
void trace_kernel(const struct trace_place *place, const struct operation *launch,
                  const char *name);

/* An operation was issued. */
void trace_issue_span(struct runtime *runtime, const struct operation *operation);

static inline void trace_issue(struct runtime *runtime, const struct operation *operation)
{
    if (operation->span)
        trace_issue_span(runtime, operation);
}

/* A message of so many bytes leaves, of which it is the last command. */
void trace_message(const struct trace_place *place, struct operation *last, uint32_t bytes);

/* An operation is over, and so is the message that it closes. */
void trace_end_spans(struct runtime *runtime, struct operation *operation);

static inline void trace_end(struct runtime *runtime, struct operation *operation)
{
    if (operation->span | operation->message_span)
        trace_end_spans(runtime, operation);
}

/* The worker tells when it ran an operation, by its clock. */
void trace_worker(const struct device *device, const struct operation *operation, int64_t begin_ns,
                  int64_t end_ns);

/* A look at a worker's clock. */
struct trace_clock {
    int64_t at_ns;     /* by this side's */
    int64_t ahead_ns;  /* of this side's */
    int64_t within_ns; /* so exact; -1: there was no answer */
};

/* The first look at the clock of the worker of a rank, or a later one; see clocks.h. */
void trace_clock(struct trace *trace, int rank, const struct trace_clock *clock);

/* The program's thread begins to wait, for `what` (a static string); has waited. */
uint32_t trace_wait(const struct trace_place *place, const char *what);
void trace_waited(struct runtime *runtime, uint32_t wait);

/* Writes the file and stops recording. */
void trace_close(struct runtime *runtime);

#endif
