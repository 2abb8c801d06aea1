/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* schedule.h: which iterations of a loop a thread runs. Arithmetic only, with counts up to
 * 2^64 - 1. Every iteration belongs to exactly one thread, and the same numbers always give the
 * same answer: OpenMP lets programs rely on that for static schedules. */
#ifndef DEVICE_SCHEDULE_H
#define DEVICE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* The iterations begin to end - 1 are the calling thread's next ones. */
struct schedule {
    uint64_t begin, end;
    uint64_t count; /* of iterations */
    uint64_t step;  /* from one span of this thread to its next one, 0: this is the only one */
    uint64_t chunk;
};

static inline bool schedule_span(struct schedule *schedule, uint64_t begin)
{
    uint64_t left = schedule->count - begin;

    schedule->begin = begin;
    schedule->end = begin + (left < schedule->chunk ? left : schedule->chunk);
    return true;
}

/* One span per thread, in the order of threads, their lengths differ by at most one. */
static inline bool schedule_blocks(struct schedule *schedule, uint64_t count, uint64_t threads,
                                   uint64_t thread)
{
    uint64_t least = count / threads, more = count % threads;

    schedule->begin = thread * least + (thread < more ? thread : more);
    schedule->end = schedule->begin + least + (thread < more);
    schedule->step = 0;
    return schedule->begin < schedule->end;
}

/* The first span of a thread; false: it has none. chunk 0 is none given. */
static inline bool schedule_first(struct schedule *schedule, uint64_t count, uint64_t chunk,
                                  uint64_t threads, uint64_t thread)
{
    uint64_t begin;

    if (chunk == 0)
        return schedule_blocks(schedule, count, threads, thread);
    if (__builtin_mul_overflow(thread, chunk, &begin) || begin >= count)
        return false;
    if (__builtin_mul_overflow(threads, chunk, &schedule->step))
        schedule->step = 0;
    schedule->count = count;
    schedule->chunk = chunk;
    return schedule_span(schedule, begin);
}

/* The next span of a thread; false: there was no other. */
static inline bool schedule_next(struct schedule *schedule)
{
    if (schedule->step == 0 || schedule->count - schedule->begin <= schedule->step)
        return false;
    return schedule_span(schedule, schedule->begin + schedule->step);
}

#endif
