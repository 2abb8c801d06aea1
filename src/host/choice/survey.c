/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * survey.c: rounds of samples. A round takes each size, direction and path once, and the paths of a
 * size follow each other, so what disturbs the machine for a while disturbs all of them. Which path
 * begins changes with each round. Large samples are left out where the time that is left is too
 * short for them.
 */
#include "host/choice/survey.h"

#include <string.h>

#include "host/choice/cost.h"

enum {
    NEAR_NS = 6000000,       /* for workers of this host, */
    NEAR_MOST_NS = 15000000, /* with what waking them and other programs took of it, */
    NEAR_LEAST_NS = 2000000, /* but so much at least; */
    FAR_NS = 50000000,       /* of another one, */
    HOSTS_NS = 80000000,     /* for all of them, */
    LEAST_NS = 5000000,      /* if so much is left */
    SMALL = 0,
    LARGE = 1,
    PER_ROUND = SURVEY_SIZES * PATHS_DIRECTIONS * SURVEY_PATHS
};

/* Up to 8 KiB submits do not go two-sided. From 16 KiB on MPI moves data the same way at all sizes,
 * so a line through two of them holds for the others. */
uint64_t survey_bytes(enum path path, int size)
{
    static const uint64_t messages[] = {64, COST_INLINE_MOST}, others[] = {16 << 10, 128 << 10};

    return path == PATH_INLINE ? messages[size] : others[size];
}

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

/* The path that is sampled at this position of a round. Messages, whose samples take many
 * operations, never begin the first one. */
static enum path path_at(int round, int position)
{
    return (enum path)((1 + (round % 2 ? SURVEY_PATHS - 1 - position : position)) % SURVEY_PATHS);
}

static struct survey_cell cell_at(int number)
{
    int in_round = number % PER_ROUND;

    return (struct survey_cell){
        .size = in_round / (PATHS_DIRECTIONS * SURVEY_PATHS),
        .direction = (enum paths_direction)(in_round / SURVEY_PATHS % PATHS_DIRECTIONS),
        .path = path_at(number / PER_ROUND, in_round % SURVEY_PATHS),
    };
}

/* By what the small size took, large samples of both paths and directions would take longer than
 * there is time. */
static bool is_too_slow(const struct survey *survey, const struct survey_cell *cell, int64_t now_ns)
{
    double us = cost_of(&survey->samples[cell->direction][cell->path][SMALL]);
    double times =
        (double)survey_bytes(cell->path, LARGE) / (double)survey_bytes(cell->path, SMALL);
    int operations = 2 * PATHS_DIRECTIONS * SURVEY_LEAST_OPERATIONS;

    return cell->size == LARGE && cell->path != PATH_INLINE &&
           operations * times * us * 1e3 > (double)(survey->deadline_ns - now_ns);
}

bool survey_next(struct survey *survey, int64_t now_ns, struct survey_cell *cell)
{
    while (now_ns < survey->deadline_ns && survey->next < COST_SAMPLES * PER_ROUND) {
        *cell = cell_at(survey->next++);
        if ((cell->path != PATH_RMA || survey->one_sided) && !is_too_slow(survey, cell, now_ns))
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

static struct cost line_of(enum path path, const struct cost_samples samples[SURVEY_SIZES],
                           bool large)
{
    static const struct cost_samples none;

    return cost_line(&samples[SMALL], survey_bytes(path, SMALL), large ? &samples[LARGE] : &none,
                     survey_bytes(path, LARGE));
}

void survey_result(const struct survey *survey, struct cost costs[][PATH_COUNT])
{
    for (int direction = 0; direction < PATHS_DIRECTIONS; direction++) {
        const struct cost_samples(*samples)[SURVEY_SIZES] = survey->samples[direction];
        bool both = cost_is_enough(&samples[PATH_RMA][LARGE]) &&
                    cost_is_enough(&samples[PATH_TWO_SIDED][LARGE]);

        memset(costs[direction], 0, sizeof(costs[direction]));
        for (enum path path = 0; path <= PATH_TWO_SIDED; path++)
            costs[direction][path] =
                line_of(path, samples[path], both || path == PATH_INLINE || !survey->one_sided);
    }
}
