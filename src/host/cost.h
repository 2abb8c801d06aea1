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
    COST_EAGER = 2048, /* a message of so much leaves at once, with any MPI */
    COST_CLASSES = 48  /* size classes: class c holds sizes above 1 << c up to 2 << c */
};

extern const uint64_t cost_sizes[COST_SIZES];

static inline unsigned cost_class(uint64_t bytes)
{
    unsigned class = bytes < 2 ? 0 : 63 - (unsigned)__builtin_clzll(bytes - 1);

    return class < COST_CLASSES ? class : COST_CLASSES - 1;
}

/* The largest size of a class, for which all of it is decided: powers of two are what is used most.
 */
static inline uint64_t cost_class_bytes(unsigned class)
{
    return UINT64_C(2) << class;
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

/* Whether a sample came again: there are two that do not differ by much from the time. What was
 * disturbed all the time scatters. */
bool cost_is_repeated(const struct cost_samples *samples);

/* Whether the time is not exact enough to tell apart what is close: there are hardly any samples,
 * none came again, or they differ much. */
bool cost_is_rough(const struct cost_samples *samples);

/* By what factor another way has to be better before that is believed: a few percent and half of
 * what samples differ by; 1.5 at least where they are rough; HUGE_VAL where there are hardly any
 * and none came again. */
double cost_doubt(const struct cost_samples *samples);

/* Whether samples of two ways tell which is better, so that more of them would not change it: each
 * has some, they came again, and one costs clearly more. */
bool cost_is_clear(const struct cost_samples *a, const struct cost_samples *b);

/* ---- curves ---- */

/* Microseconds by size; 0: not measured. */
struct cost_curve {
    double us[COST_SIZES];
    float spread[COST_SIZES];
    float doubt[COST_SIZES]; /* cost_doubt(); 0: none but a few percent */
    bool near;        /* within a host, where the second way is rarely the better one by much */
    uint64_t at_once; /* of messages: so many bytes leave at once, too, if more than COST_EAGER */
};

/* Time at any size, on the line through the two measured sizes around it, or the nearest two if it
 * lies outside them. 0 if nothing was measured. */
double cost_at(const struct cost_curve *curve, uint64_t bytes);

/* ---- choices ---- */

/* The classes in which the first way is to be taken, one bit each: where the second is not better
 * by more than is doubted; within a host, a quarter more than that beyond the largest size
 * measured; between hosts, by no more than a quarter. All where one of them was not measured, and
 * those much larger than what was measured of both. */
uint64_t cost_classes(const struct cost_curve *first, const struct cost_curve *second);

/* Power of two up to `most`, and to what `small` was measured at or COST_EAGER, up to which
 * messages lose least against the better one of the others, over all powers of two: so one may be
 * slower at a size below others at which it is much faster. Without `base`, it is as good where it
 * is not slower; up to COST_EAGER also if its time is rough; up to what leaves at once by a
 * quarter slower, or three quarters if its time is rough, and whatever it takes if there are hardly
 * any samples; beyond that it has to be faster by a tenth, unless its time is rough. What is
 * smaller than all that was measured of it is taken, up to what leaves at once. `second` counts
 * only above `second_from`. NULL: there is no such way. 0: none.
 */
uint32_t cost_limit(const struct cost_curve *small, double base, const struct cost_curve *first,
                    const struct cost_curve *second, uint64_t second_from, uint32_t most);

#endif
