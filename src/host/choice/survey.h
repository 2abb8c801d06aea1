/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * survey.h: the start-up measurement without the measuring: which sample is taken next, when there
 * are enough, and what they tell. Each path is sampled at two sizes, a small and a large one. Pure:
 * the caller takes the samples and says what time it is.
 */
#ifndef OMPRMA_HOST_CHOICE_SURVEY_H
#define OMPRMA_HOST_CHOICE_SURVEY_H

#include "host/choice/cost.h"
#include "host/core/paths.h"

enum {
    SURVEY_PATHS = PATH_TWO_SIDED + 1,
    SURVEY_SIZES = 2,            /* of each path */
    SURVEY_LEAST_OPERATIONS = 2, /* that one sample takes */
    SURVEY_STOLEN_NS = 1000000
};

struct survey_cell {
    enum paths_direction direction;
    enum path path;
    int size; /* 0: the small one */
};

struct survey {
    int64_t deadline_ns;
    int64_t stolen_ns; /* by which other programs may put that off */
    bool one_sided;    /* such transfers are possible */
    struct cost_samples samples[PATHS_DIRECTIONS][SURVEY_PATHS][SURVEY_SIZES];
    int next; /* number of the next sample */
};

uint64_t survey_bytes(enum path path, int size);

/* Time budget for measuring one kind of host: fixed for the local host; for others, what is left
 * since the first one began, which was passed_ns ago. 0: take over what another host measured. */
int64_t survey_budget(bool near, int64_t passed_ns);

/* How much of that is left for samples; passed_ns: what went before them, as waking the worker. On
 * the local host it is less where that took long, as beside other programs. */
int64_t survey_left(bool near, int64_t budget_ns, int64_t passed_ns);

/* By how much what other programs take may put the end off; passed_ns as above. */
int64_t survey_reserve(bool near, int64_t passed_ns);

/* The next sample. False: there are enough, or time is up. *survey is zero at the beginning, but
 * for the deadline, what may be stolen and whether one-sided transfers are possible. */
bool survey_next(struct survey *survey, int64_t now_ns, struct survey_cell *cell);

/* How long one operation of it took. On one host an operation that takes SURVEY_STOLEN_NS has
 * waited for a processor, which does not count. */
void survey_took(struct survey *survey, int64_t took_ns);

/* What the sample took. */
void survey_add(struct survey *survey, const struct survey_cell *cell, double us);

/* What each path costs. One-sided and two-sided transfers are compared by the sizes that both were
 * sampled at. */
void survey_result(const struct survey *survey, struct cost costs[][PATH_COUNT]);

#endif
