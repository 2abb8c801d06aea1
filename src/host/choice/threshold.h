/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * threshold.h: the size from which on data goes one-sided, corrected by what real transfers take.
 * Now and then one size beside the threshold is tried the other way, and the threshold moves if
 * that is better. Pure: no clock, no MPI, nothing of devices or queues.
 *
 * Bound by construction: one trial at a time, at most three transfers the other way each. The first
 * one comes after 32 transfers, and a trial that changes nothing doubles the pause, so a wrong
 * choice is found soon. After a trial that moves the threshold the pause is 384. So at most one
 * transfer in 128 goes the other way, but for a few at the beginning.
 *
 * Hysteresis by construction: two-sided transfers have to win by a ratio (cost_two_sided_ratio()),
 * one-sided ones by a few percent, and between the two nothing changes. The best of three transfers
 * each way decides, because disturbances only add.
 */
#ifndef OMPRMA_HOST_CHOICE_THRESHOLD_H
#define OMPRMA_HOST_CHOICE_THRESHOLD_H

#include <stdbool.h>
#include <stdint.h>

enum { THRESHOLD_SAMPLES = 3 }; /* of each way in a trial */

/* The other way is the path that a size does not take at present. */
struct threshold_trial {
    bool going;
    uint64_t bytes; /* sizes from this power of two up to the next one */
    int left;       /* transfers of the direction until it is given up */
    int timed;      /* transfers that were, whether they counted or not */
    int here_count, there_count;
    double here_us, there_us; /* the best samples of the path that is taken, and of the other way */
};

struct threshold {
    uint64_t rma_from;
    uint64_t first; /* rma_from at start-up */
    double ratio;   /* by which two-sided transfers have to win */
    struct threshold_trial trial;
    uint64_t below, above; /* used since the last trial, nearest to rma_from; 0: none */
    uint32_t since;        /* transfers since then */
    uint32_t pause;        /* until the next one */
    uint32_t trials, revisions;
    uint64_t transfers, tried;
};

void threshold_begin(struct threshold *threshold, uint64_t rma_from, double ratio);

/* Counts a transfer. Whether it is a part of a trial, and so would be timed if that is possible. */
bool threshold_is_due(struct threshold *threshold, uint64_t bytes);

/* Of one that is due, and will be timed: whether it goes the other way. */
bool threshold_next(struct threshold *threshold, uint64_t bytes);

/* What a timed transfer took, as if it had the least size of its trial. True: rma_from has changed.
 * The trial that has just ended says what both ways took. */
bool threshold_sample(struct threshold *threshold, bool one_sided, double us);

/* The power of two that a size counts as. */
static inline uint64_t threshold_size(uint64_t bytes)
{
    return bytes < 2 ? 1 : UINT64_C(1) << (63 - __builtin_clzll(bytes));
}

#endif
