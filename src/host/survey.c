/* survey.c: see survey.h. */
#include "host/survey.h"

#include <string.h>

enum {
    NEAR_NS = 6000000,       /* for workers of this host, */
    NEAR_MOST_NS = 15000000, /* with what waking them and other programs took of it, */
    NEAR_LEAST_NS = 2000000, /* but so much at least; */
    FAR_NS = 50000000,       /* of another one, */
    HOSTS_NS = 80000000,     /* for all of them, */
    LEAST_NS = 5000000       /* if so much is left */
};

int64_t survey_budget(bool near, int64_t passed_ns)
{
    int64_t left = HOSTS_NS - passed_ns;

    if (near)
        return NEAR_NS;
    return left < LEAST_NS ? 0 : left < FAR_NS ? left : FAR_NS;
}

int64_t survey_left(bool near, int64_t budget_ns, int64_t passed_ns)
{
    int64_t left = NEAR_MOST_NS - passed_ns;

    if (!near || left > budget_ns)
        return budget_ns;
    return left > NEAR_LEAST_NS ? left : NEAR_LEAST_NS;
}

int64_t survey_reserve(bool near, int64_t passed_ns)
{
    int64_t left = NEAR_MOST_NS - NEAR_NS - passed_ns;

    return near && left > 0 ? left : 0;
}

/* ---- which is next ---- */

/* Small sizes come last: up to COST_EAGER most is known before. */
static const int order[COST_SIZES] = {4, 5, 6, 7, 0, 1, 2, 3};
enum { ORDER_SMALL = 4 };

/* More samples would not change which way is the best one. */
static bool is_settled(const struct survey *survey)
{
    const struct cost_samples *best = NULL;
    int size = order[survey->at];
    bool settled = true;

    for (enum path path = 0; path <= PATH_TWO_SIDED; path++) {
        const struct cost_samples *way = &survey->samples[survey->direction][path][size];

        if (way->count && (!best || cost_of(way) < cost_of(best)))
            best = way;
    }
    for (enum path path = 0; path <= PATH_TWO_SIDED; path++) {
        const struct cost_samples *way = &survey->samples[survey->direction][path][size];

        if (survey->possible[survey->direction][path][size] && way != best)
            settled &= best && cost_is_clear(best, way);
    }
    return settled;
}

/* Whether the samples of a size would take too long, by what is known of it or else of the size
 * before it. */
static bool is_too_much(const struct survey *survey, int64_t now_ns)
{
    int size = order[survey->at];
    double us = 0;

    if (survey->at == 0 || survey->at >= ORDER_SMALL)
        return false;
    for (int direction = 0; direction < PATHS_DIRECTIONS; direction++)
        for (enum path path = 0; path <= PATH_TWO_SIDED; path++) {
            const struct cost_samples *way = survey->samples[direction][path];

            if (way[size].count)
                us += cost_of(&way[size]);
            else if (survey->possible[direction][path][size])
                us += cost_of(&way[size - 1]) * (double)(cost_sizes[size] / cost_sizes[size - 1]);
        }
    return now_ns + (int64_t)(SURVEY_LEAST_OPERATIONS * us * 1e3) > survey->deadline_ns;
}

static void next_direction(struct survey *survey)
{
    survey->turn = 0;
    if (++survey->direction < PATHS_DIRECTIONS)
        return;
    survey->direction = 0;
    if (++survey->at < COST_SIZES)
        return;
    survey->at = 0;
    survey->round++;
}

/* Whether there is anything to be done here, before the first turn. */
static bool is_wanted(struct survey *survey, int64_t now_ns)
{
    if (survey->direction == 0 && is_too_much(survey, now_ns)) {
        survey->at = ORDER_SMALL;
        return false;
    }
    if (is_settled(survey)) {
        next_direction(survey);
        return false;
    }
    return true;
}

/* Who begins changes; the one that takes many operations, inline, never begins the first round. */
static enum path path_at(int round, int turn)
{
    return (enum path)((1 + (round % 2 ? SURVEY_WAYS - 1 - turn : turn)) % SURVEY_WAYS);
}

bool survey_next(struct survey *survey, int64_t now_ns, struct survey_cell *cell)
{
    while (now_ns < survey->deadline_ns && survey->round < COST_SAMPLES) {
        if (survey->turn == SURVEY_WAYS) {
            next_direction(survey);
            continue;
        }
        if (survey->turn == 0 && !is_wanted(survey, now_ns))
            continue;
        *cell = (struct survey_cell){
            .direction = (enum paths_direction)survey->direction,
            .path = path_at(survey->round, survey->turn),
            .size = order[survey->at],
        };
        survey->turn++;
        if (survey->possible[cell->direction][cell->path][cell->size])
            return true;
    }
    return false;
}

void survey_took(struct survey *survey, int64_t took_ns)
{
    int64_t back = took_ns < SURVEY_STOLEN_NS ? 0 : took_ns;

    if (back > survey->stolen_ns)
        back = survey->stolen_ns;
    survey->stolen_ns -= back;
    survey->deadline_ns += back;
}

void survey_add(struct survey *survey, const struct survey_cell *cell, double us)
{
    cost_sample(&survey->samples[cell->direction][cell->path][cell->size], us);
}

/* ---- what they tell ---- */

static void fill_curve(struct cost_curve *curve, const struct cost_samples samples[COST_SIZES])
{
    double least = 0;
    bool several = false;

    for (int size = 0; size < COST_SIZES; size++)
        several |= samples[size].count > 1;
    for (int size = COST_SIZES - 1; size >= 0; size--) {
        if (several && samples[size].count < 2)
            continue;
        curve->us[size] = cost_of(&samples[size]);
        curve->spread[size] = (float)cost_spread(&samples[size]);
        curve->doubt[size] = (float)cost_doubt(&samples[size]);
        if (least > 0 && curve->us[size] > least)
            curve->us[size] = least;
        if (curve->us[size] > 0)
            least = curve->us[size];
    }
}

void survey_result(const struct survey *survey, struct cost_curve curves[][PATH_COUNT])
{
    memset(curves, 0, PATHS_DIRECTIONS * sizeof(*curves));
    for (int direction = 0; direction < PATHS_DIRECTIONS; direction++)
        for (enum path path = 0; path <= PATH_TWO_SIDED; path++)
            fill_curve(&curves[direction][path], survey->samples[direction][path]);
}
