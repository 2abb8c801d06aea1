/*
 * cost.h: the model of what a way of the data costs. Samples of one operation become one time that
 * a disturbed sample does not change; times at some sizes become a curve; curves say which way is
 * the better one at which size. Pure: no clock, no MPI, nothing of devices or queues.
 */
#ifndef OMPRMA_HOST_COST_H
#define OMPRMA_HOST_COST_H

#include <stdbool.h>
#include <stdint.h>

enum {
    COST_SIZES = 8,    /* sizes measured; dense where transports change their protocol */
    COST_SAMPLES = 16, /* most of one operation */
    COST_CLASSES = 48  /* size classes: class c holds sizes from 1 << c to below 2 << c */
};

extern const uint64_t cost_sizes[COST_SIZES];

static inline unsigned cost_class(uint64_t bytes)
{
    unsigned class = 63 - (unsigned)__builtin_clzll(bytes | 1);

    return class < COST_CLASSES ? class : COST_CLASSES - 1;
}

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

/* By how much most samples may differ from that, as a share of it: the upper quartile. */
double cost_spread(const struct cost_samples *samples);

/* Whether samples of two ways tell which is better, so that more of them would not change it: each
 * has some, and one costs clearly more. */
bool cost_is_clear(const struct cost_samples *a, const struct cost_samples *b);

/* ---- curves ---- */

/* Microseconds by size; 0: not measured. */
struct cost_curve {
    double us[COST_SIZES];
    float spread[COST_SIZES];
};

/* Time at any size, on the line through the two measured sizes around it, or the nearest two if it
 * lies outside them. 0 if nothing was measured. */
double cost_at(const struct cost_curve *curve, uint64_t bytes);

/* ---- choices ---- */

/* The classes in which the first way is to be taken, one bit each: where it is not slower than the
 * second, up to a small share that nobody can measure. None if only the second was measured, all if
 * that was not. */
uint64_t cost_classes(const struct cost_curve *first, const struct cost_curve *second);

/* Largest power of two up to `most` at which `small` without `base` is not slower than the better
 * one of the others; `second` counts only above `second_from`. NULL: there is no such way. 0: none.
 */
uint32_t cost_limit(const struct cost_curve *small, double base, const struct cost_curve *first,
                    const struct cost_curve *second, uint64_t second_from, uint32_t most);

#endif
