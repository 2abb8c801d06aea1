/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cost.c: samples are kept in ascending order, so quartiles are looked up. A cost is the line
 * through two points. Thresholds are found by asking at each power of two, from the large end for
 * one-sided transfers and from the small end for messages.
 */
#include "host/choice/cost.h"

#include <stddef.h>

enum {
    SAMPLES_LEAST = 3,
    COMPARED_LEAST = 16 << 10, /* one-sided and two-sided transfers are compared where they are */
    COMPARED_MOST = 128 << 10  /* measured: beyond, lines are drawn through noise */
};

static const double near_ratio = 1.25, far_ratio = 1.05; /* by which two-sided has to win */
static const double far_longer_ratio = 2.5; /* and with one sample of each, which is a first one */
static const double at_once_ratio = 1.25, eager_ratio = 1.02, beyond_ratio = 0.9; /* of messages */
static const double latency_least = 0.25; /* of the small size's time: latency is never free */

/* ---- samples ---- */

void cost_sample(struct cost_samples *samples, double us)
{
    int at = samples->count;

    if (at == COST_SAMPLES)
        return;
    while (at > 0 && samples->us[at - 1] > (float)us) {
        samples->us[at] = samples->us[at - 1];
        at--;
    }
    samples->us[at] = (float)us;
    samples->count++;
}

double cost_of(const struct cost_samples *samples)
{
    return samples->count ? (double)samples->us[(samples->count - 1) / 4] : 0;
}

bool cost_is_enough(const struct cost_samples *samples)
{
    return samples->count >= SAMPLES_LEAST;
}

double cost_spread(const struct cost_samples *samples)
{
    double low = cost_of(samples);

    return low > 0 ? (double)samples->us[samples->count * 3 / 4] / low - 1 : 0;
}

/* ---- costs ---- */

static double kib(uint64_t bytes)
{
    return (double)bytes / 1024;
}

struct cost cost_line(const struct cost_samples *small, uint64_t small_bytes,
                      const struct cost_samples *large, uint64_t large_bytes)
{
    double low = cost_of(small), high = cost_of(large);
    struct cost cost = {.us = low, .spread = (float)cost_spread(small), .samples = small->count};

    if (!cost_is_enough(small))
        return (struct cost){0};
    if (!cost_is_enough(large))
        return cost;
    if (low > high) /* more data never takes less time: disturbances only add */
        low = high;
    cost.us = low - (high - low) * kib(small_bytes) / kib(large_bytes - small_bytes);
    if (cost.us < latency_least * low)
        cost.us = latency_least * low;
    cost.us_per_kib = (high - cost.us) / kib(large_bytes);
    if (large->count < small->count)
        cost.samples = large->count;
    return cost;
}

double cost_at(const struct cost *cost, uint64_t bytes)
{
    return cost->us > 0 ? cost->us + cost->us_per_kib * kib(bytes) : 0;
}

/* ---- thresholds ---- */

double cost_two_sided_ratio(bool near)
{
    return near ? near_ratio : far_ratio;
}

uint64_t cost_rma_from(const struct cost *rma, const struct cost *two_sided, double ratio)
{
    if (rma->us <= 0 || two_sided->us <= 0)
        return 0;
    for (uint64_t bytes = COMPARED_MOST; bytes >= COMPARED_LEAST; bytes /= 2)
        if (ratio * cost_at(two_sided, bytes) < cost_at(rma, bytes))
            return bytes == COMPARED_MOST ? COST_NEVER : 2 * bytes;
    return 0;
}

bool cost_is_far_longer(int64_t rma_ns, int64_t two_sided_ns)
{
    return two_sided_ns > 0 && (double)rma_ns > far_longer_ratio * (double)two_sided_ns;
}

static const struct cost *other_at(const struct cost_others *others, uint64_t bytes)
{
    if (others->rma && bytes >= others->rma_from)
        return others->rma;
    return others->two_sided && bytes >= others->two_sided_from ? others->two_sided : NULL;
}

static bool is_taken(const struct cost *small, bool rides, uint32_t bytes, uint32_t at_once,
                     const struct cost *other)
{
    double us = cost_at(small, bytes) - (rides ? small->us : 0);

    if (!other)
        return true;
    if (small->us <= 0 || other->us <= 0)
        return bytes <= at_once || bytes <= COST_EAGER;
    return us <= cost_at(other, bytes) * (bytes <= at_once      ? at_once_ratio
                                          : bytes <= COST_EAGER ? eager_ratio
                                                                : beyond_ratio);
}

uint32_t cost_inline_most(const struct cost *small, bool rides, uint32_t at_once,
                          const struct cost_others *others)
{
    uint32_t most = 0, limit = others->asks ? COST_INLINE_FAR : COST_INLINE_MOST;

    for (uint32_t bytes = 8; bytes <= limit; most = bytes, bytes *= 2)
        if (!is_taken(small, rides, bytes, at_once, other_at(others, bytes)))
            break;
    return most;
}
