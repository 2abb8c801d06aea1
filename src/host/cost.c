/* cost.c: see cost.h. */
#include "host/cost.h"

#include <stddef.h>
#include <string.h>

enum { SAMPLES_CLEAR = 4 /* of each way at least, before more are thought needless */ };

static const double clear_ratio = 1.25; /* from here on two ways are told apart by few samples */
static const double equal_ratio = 1.02; /* up to here they are the same */

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

double cost_of(const struct cost_samples *samples)
{
    return samples->count ? (double)samples->us[(samples->count - 1) / 4] : 0;
}

double cost_spread(const struct cost_samples *samples)
{
    double low = cost_of(samples);

    return low > 0 ? (double)samples->us[samples->count * 3 / 4] / low - 1 : 0;
}

bool cost_is_clear(const struct cost_samples *a, const struct cost_samples *b)
{
    double left = cost_of(a), right = cost_of(b);

    return a->count >= SAMPLES_CLEAR && b->count >= SAMPLES_CLEAR &&
           (left > clear_ratio * right || right > clear_ratio * left);
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

/* ---- choices ---- */

/* The largest size that both were measured at. Beyond it the better one there is thought to stay
 * so: lines would be drawn through noise. */
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
        uint64_t bytes = class < cost_class(last) ? UINT64_C(1) << class : last;
        double mine = cost_at(first, bytes), other = cost_at(second, bytes);

        if (other <= 0 || (mine > 0 && mine <= equal_ratio * other))
            classes |= UINT64_C(1) << class;
    }
    return classes;
}

uint32_t cost_limit(const struct cost_curve *small, double base, const struct cost_curve *first,
                    const struct cost_curve *second, uint64_t second_from, uint32_t most)
{
    uint32_t limit = 0;

    for (uint32_t bytes = 8; bytes <= most; bytes *= 2) {
        double mine = cost_at(small, bytes) - base, other = 0, time;

        if (first)
            other = cost_at(first, bytes);
        if (second && bytes > second_from && (time = cost_at(second, bytes)) > 0 &&
            (other <= 0 || time < other))
            other = time;
        if (mine + base <= 0 || (other > 0 && mine > equal_ratio * other))
            break;
        limit = bytes;
    }
    return limit;
}
