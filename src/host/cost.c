/* cost.c: see cost.h. */
#include "host/cost.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum {
    SAMPLES_SOUND = 3, /* fewer say little */
    SAMPLES_CLEAR = 8, /* of each way at least, before more are thought needless */
    TELLING = 8 << 10  /* the least size that tells something of larger ones */
};

static const double clear_ratio = 1.25; /* from here on two ways are told apart by few samples */
static const double equal_ratio = 1.02; /* up to here they are the same */
static const double first_ratio = 1.03; /* and up to here the first one is taken */
static const double rough_ratio = 1.5;  /* the same if times are rough */
static const double near_ratio = 1.75;  /* up to here a message is, where times are rough */
static const double beyond_ratio = 0.9; /* data that makes a message leave later goes along in it */
static const double repeated_ratio = 1.15; /* up to here one sample is another one's repetition */

const uint64_t cost_sizes[COST_SIZES] = {8, 1024, 2048, 4096, 8192, 32768, 131072, 1 << 20};

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

bool cost_is_repeated(const struct cost_samples *samples)
{
    int at = (samples->count - 1) / 4;

    return samples->count > 1 &&
           (double)samples->us[at + 1] < repeated_ratio * (double)samples->us[at];
}

double cost_of(const struct cost_samples *samples)
{
    if (samples->count == 0)
        return 0;
    return (double)samples->us[cost_is_repeated(samples) ? (samples->count - 1) / 4 : 0];
}

double cost_spread(const struct cost_samples *samples)
{
    double low = cost_of(samples);

    return low > 0 ? (double)samples->us[samples->count * 3 / 4] / low - 1 : 0;
}

bool cost_is_rough(const struct cost_samples *samples)
{
    return samples->count < SAMPLES_SOUND || !cost_is_repeated(samples) ||
           cost_spread(samples) > clear_ratio - 1;
}

double cost_doubt(const struct cost_samples *samples)
{
    if (samples->count < SAMPLES_SOUND && !cost_is_repeated(samples))
        return HUGE_VAL;
    return fmax(cost_is_rough(samples) ? rough_ratio : first_ratio,
                first_ratio + cost_spread(samples) / 2);
}

bool cost_is_clear(const struct cost_samples *a, const struct cost_samples *b)
{
    double left = cost_of(a), right = cost_of(b);

    return a->count >= SAMPLES_CLEAR && b->count >= SAMPLES_CLEAR && cost_is_repeated(a) &&
           cost_is_repeated(b) && (left > clear_ratio * right || right > clear_ratio * left);
}

/* ---- curves ---- */

double cost_at(const struct cost_curve *curve, uint64_t bytes)
{
    int low = -1, high = -1;
    double share, time;

    for (int i = 0; i < COST_SIZES; i++) {
        if (curve->us[i] <= 0)
            continue;
        if (low >= 0 && bytes <= cost_sizes[high])
            break;
        low = high;
        high = i;
    }
    if (low < 0)
        return high < 0 ? 0 : curve->us[high];
    share =
        ((double)bytes - (double)cost_sizes[low]) / (double)(cost_sizes[high] - cost_sizes[low]);
    time = curve->us[low] + share * (curve->us[high] - curve->us[low]);
    /* Below what was measured the line promises too much: latency does not shrink with the size. */
    if (bytes < cost_sizes[low] && time < curve->us[low] / 2)
        time = curve->us[low] / 2;
    /* Above it, more data never takes less time. */
    if (bytes > cost_sizes[high] && time < curve->us[high])
        time = curve->us[high];
    return time;
}

/* Of the size that a time at this one follows from: the next larger one that was measured, if any.
 */
static double doubt_at(const struct cost_curve *curve, uint64_t bytes)
{
    int at = 0;

    for (int i = 0; i < COST_SIZES; i++)
        if (curve->us[i] > 0 && (cost_sizes[at] < bytes || curve->us[at] <= 0))
            at = i;
    return fmax((double)curve->doubt[at], first_ratio);
}

/* ---- choices ---- */

/* The largest size that both were measured at. Beyond it the better one there is thought to stay
 * so, if it is clearly better: lines would be drawn through noise. Small sizes tell nothing of
 * large ones. */
static uint64_t last_common(const struct cost_curve *first, const struct cost_curve *second)
{
    uint64_t last = UINT64_C(1) << (COST_CLASSES - 1);

    for (int i = 0; i < COST_SIZES; i++)
        if (first->us[i] > 0 && second->us[i] > 0)
            last = cost_sizes[i];
    return last;
}

uint64_t cost_classes(const struct cost_curve *first, const struct cost_curve *second)
{
    uint64_t classes = 0, last = last_common(first, second);

    for (unsigned class = 0; class < COST_CLASSES; class ++) {
        bool beyond = class > cost_class(last);
        uint64_t bytes = beyond || class == cost_class(last) ? last : cost_class_bytes(class);
        double other = beyond && last < TELLING ? 0 : cost_at(second, bytes);
        double doubt = fmax(doubt_at(first, bytes), doubt_at(second, bytes));

        if (first->near && beyond)
            doubt *= clear_ratio;
        if (!first->near)
            doubt = fmin(doubt, clear_ratio);
        if (other <= 0 || cost_at(first, bytes) <= doubt * other)
            classes |= UINT64_C(1) << class;
    }
    return classes;
}

/* How much of another way's time a message may take. Within a host that may halve or double with
 * the next second, as the processors are placed, and what a put or get takes does not. */
static double limit_ratio(const struct cost_curve *small, uint64_t bytes)
{
    double doubt = doubt_at(small, bytes);
    bool rough = doubt >= rough_ratio;

    if (bytes <= COST_EAGER)
        return rough ? HUGE_VAL : equal_ratio;
    if (bytes <= small->at_once)
        return isinf(doubt) ? doubt : rough ? near_ratio : clear_ratio;
    return rough ? first_ratio : beyond_ratio;
}

/* The least size measured; 0: none. */
static uint64_t first_measured(const struct cost_curve *curve)
{
    for (int i = 0; i < COST_SIZES; i++)
        if (curve->us[i] > 0)
            return cost_sizes[i];
    return 0;
}

/* How much better a message is, as a logarithm; 0 where there is nothing else, or nothing is sure.
 * Bounded, so that one size that was measured wrong does not decide for those beside it. */
static double gain(double mine, double other, double ratio)
{
    static const double most = 0.7; /* twice as good */
    double value;

    if (other <= 0 || ratio == HUGE_VAL)
        return 0;
    if (mine <= 0)
        return most;
    value = log(ratio * other / mine);
    return value > most ? most : value < -most ? -most : value;
}

uint32_t cost_limit(const struct cost_curve *small, double base, const struct cost_curve *first,
                    const struct cost_curve *second, uint64_t second_from, uint32_t most)
{
    uint64_t least = first_measured(small), last = COST_EAGER; /* size measured */
    double sum = 0, best = 0;
    uint32_t limit = 0;

    for (int i = 0; i < COST_SIZES; i++)
        if (small->us[i] > 0 && cost_sizes[i] > last)
            last = cost_sizes[i];
    for (uint32_t bytes = 8; bytes <= most; bytes *= 2) {
        double mine = cost_at(small, bytes) - base, other = 0, time;

        if (bytes < least && (bytes <= COST_EAGER || bytes <= small->at_once)) {
            /* What loses is more. */
            limit = bytes;
            continue;
        }
        if (first)
            other = cost_at(first, bytes);
        if (second && bytes > second_from && (time = cost_at(second, bytes)) > 0 &&
            (other <= 0 || time < other))
            other = time;
        if (bytes > last || (bytes > COST_EAGER && other <= 0 && (first || second)))
            break;
        sum += gain(mine, other, limit_ratio(small, bytes));
        if (sum >= best) {
            best = sum;
            limit = bytes;
        }
    }
    return limit;
}
