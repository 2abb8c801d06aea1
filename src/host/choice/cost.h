/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cost.h: the model of what a path costs. Samples of one operation become one time, which a
 * disturbed sample does not change. The times at two sizes become a latency and a bandwidth. Those
 * of the three paths become two thresholds: up to which size messages carry the data, and from
 * which size on it goes one-sided. Pure: no clock, no MPI, nothing of devices or queues.
 */
#ifndef OMPRMA_HOST_CHOICE_COST_H
#define OMPRMA_HOST_CHOICE_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "host/core/paths.h"

enum {
    COST_SAMPLES = 16,         /* most of one operation */
    COST_EAGER = 2048,         /* any MPI sends a message of so many bytes at once */
    COST_INLINE_MOST = 8192,   /* a message carries no more by choice, */
    COST_INLINE_FAR = 32 << 10 /* but where all else asks another host first */
};

/* ---- samples ---- */

struct cost_samples {
    int count;
    float us[COST_SAMPLES]; /* ascending */
};

/* Adds one; beyond COST_SAMPLES it is dropped. */
void cost_sample(struct cost_samples *samples, double us);

/* What the operation costs: the lower quartile, because disturbances only add. 0 without samples.
 */
double cost_of(const struct cost_samples *samples);

/* Fewer samples say nothing. */
bool cost_is_enough(const struct cost_samples *samples);

/* How far the upper quartile is above that, as a share of it. */
double cost_spread(const struct cost_samples *samples);

/* ---- costs ---- */

/* The line through the times of two sizes. Without samples of the large one every size takes as
 * long as the small one. Unknown where there are too few samples. */
struct cost cost_line(const struct cost_samples *small, uint64_t small_bytes,
                      const struct cost_samples *large, uint64_t large_bytes);

/* 0: unknown. */
double cost_at(const struct cost *cost, uint64_t bytes);

/* ---- thresholds ---- */

/* How much longer than the other path the preferred one may take: one-sided transfers need no
 * thread of the worker, so what they take does not change with the scheduler. Within a host
 * two-sided transfers have to win by a quarter to be considered. */
double cost_two_sided_ratio(bool near);

/* The least size, a power of two, from which on data goes one-sided; between that and what messages
 * carry it goes two-sided. Rules:
 * - 0, always, where a cost is unknown, and where two-sided wins at no size;
 * - COST_NEVER where two-sided wins at the largest size that is compared (128 KiB);
 * - else twice the largest size at which two-sided wins. */
uint64_t cost_rma_from(const struct cost *rma, const struct cost *two_sided, double ratio);

/* Whether one large transfer each way tells so much that no sample is needed: some libraries move
 * small data one-sided as fast as messages do, and large data many times slower. 0: not tried. */
bool cost_is_far_longer(int64_t rma_ns, int64_t two_sided_ns);

/* The paths of data that is not in a message; NULL: not possible. Small submits cannot go
 * two-sided, because their source may be reused at once. */
struct cost_others {
    const struct cost *rma, *two_sided;
    uint64_t rma_from, two_sided_from;
    bool asks; /* its other end, on another host, says when data may leave */
};

/* The largest power of two, at most COST_INLINE_MOST or COST_INLINE_FAR, up to which messages carry
 * the data: `small` must not lose at any size up to it. Rules for a size:
 * - without another path it is taken;
 * - up to `at_once` bytes, which leave at once through shared memory, it may be slower by a
 *   quarter: what a message takes changes with the processors' states, and with each second;
 * - up to COST_EAGER it may be slower by a few percent;
 * - beyond, it has to be faster by a tenth, since its data delays the message;
 * - where a cost is unknown it is taken if it leaves at once.
 * `rides`: the message is sent anyway, and only what the size adds to it counts. */
uint32_t cost_inline_most(const struct cost *small, bool rides, uint32_t at_once,
                          const struct cost_others *others);

#endif
