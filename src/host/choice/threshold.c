/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * threshold.c: transfers are counted, and the used sizes nearest to the threshold on both sides are
 * kept. When the pause is over the next transfer of one of them, of either side in turns, begins a
 * trial: once the present path, three times the other way, then the present path again, because the
 * first of a series finds data in the wrong caches.
 */
#include "host/choice/threshold.h"

enum {
    PAUSE_FIRST = 32,                        /* transfers before the first trial, */
    PAUSE_CHANGED = 128 * THRESHOLD_SAMPLES, /* after one that has moved the threshold, */
    PAUSE_MOST = 1 << 16,                    /* and at most */
    TRIAL_MOST = 64,                         /* transfers within which a trial has to end */
    TIMED_MOST = 12, /* and of which it may time so many, as timing holds up */
    LOST = 2         /* samples the other way that are enough to lose */
};

static const double one_sided_ratio = 1.05; /* by which one-sided transfers have to win */

void threshold_begin(struct threshold *threshold, uint64_t rma_from, double ratio)
{
    *threshold = (struct threshold){
        .rma_from = rma_from, .first = rma_from, .ratio = ratio, .pause = PAUSE_FIRST};
}

/* ---- which transfer is tried ---- */

static void note_size(struct threshold *threshold, uint64_t size)
{
    if (size < threshold->rma_from && size > threshold->below)
        threshold->below = size;
    if (size >= threshold->rma_from && (!threshold->above || size < threshold->above))
        threshold->above = size;
}

/* The size whose turn it is: what was used on one side only is tried there. */
static uint64_t size_beside(const struct threshold *threshold)
{
    bool up = !threshold->below || (threshold->above && threshold->trials % 2);

    return up ? threshold->above : threshold->below;
}

static void end_trial(struct threshold *threshold, bool changed)
{
    threshold->pause = changed ? PAUSE_CHANGED : 2 * threshold->pause;
    if (threshold->pause > PAUSE_MOST)
        threshold->pause = PAUSE_MOST;
    threshold->trial.going = false;
    threshold->since = 0;
    threshold->below = threshold->above = 0;
}

bool threshold_is_due(struct threshold *threshold, uint64_t bytes)
{
    uint64_t size = threshold_size(bytes);

    threshold->transfers++;
    threshold->since++;
    if (threshold->trial.going) {
        if (threshold->trial.left-- > 0 && threshold->trial.timed < TIMED_MOST)
            return size == threshold->trial.bytes;
        end_trial(threshold, false); /* too few of them have counted */
    }
    note_size(threshold, size);
    return threshold->since > threshold->pause && size == size_beside(threshold);
}

bool threshold_next(struct threshold *threshold, uint64_t bytes)
{
    struct threshold_trial *trial = &threshold->trial;
    bool other;

    if (!trial->going) {
        *trial = (struct threshold_trial){
            .going = true, .bytes = threshold_size(bytes), .left = TRIAL_MOST};
        threshold->trials++;
    }
    trial->timed++;
    other = trial->here_count > 0 && trial->there_count < THRESHOLD_SAMPLES;
    threshold->tried += other;
    return other;
}

/* ---- samples ---- */

static void keep(double *best, int *count, double us)
{
    if (*count == 0 || us < *best)
        *best = us;
    (*count)++;
}

bool threshold_sample(struct threshold *threshold, bool one_sided, double us)
{
    struct threshold_trial *trial = &threshold->trial;
    bool here_one_sided = trial->bytes >= threshold->rma_from;
    double ratio = here_one_sided ? threshold->ratio : one_sided_ratio;
    bool wins;

    if (!trial->going)
        return false;
    if (one_sided == here_one_sided)
        keep(&trial->here_us, &trial->here_count, us);
    else
        keep(&trial->there_us, &trial->there_count, us);
    wins = ratio * trial->there_us < trial->here_us;
    if (trial->there_count >= LOST && !wins)
        end_trial(threshold, false);
    if (trial->there_count < THRESHOLD_SAMPLES || trial->here_count < THRESHOLD_SAMPLES || !wins)
        return false;
    threshold->rma_from = here_one_sided ? 2 * trial->bytes : trial->bytes;
    threshold->revisions++;
    end_trial(threshold, true);
    return true;
}
