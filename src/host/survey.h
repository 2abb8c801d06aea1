/*
 * survey.h: the start-up measurement without the measuring: which sample is taken next, when there
 * are enough, and what they tell. A sample is one of a way (enum path) of one direction and size.
 * Pure: whoever takes the samples says what time it is.
 *
 * All ways of a size take turns, who begins changes; what tells most comes first; and round
 * follows round: so what disturbs the machine for a while disturbs all of them. A size is left out
 * of further rounds when its samples tell which way is the best one; and of a round, with those
 * above it, when its samples would take longer than there is time.
 */
#ifndef OMPRMA_HOST_SURVEY_H
#define OMPRMA_HOST_SURVEY_H

#include "host/paths.h"

enum {
    SURVEY_WAYS = PATH_TWO_SIDED + 1,
    SURVEY_LEAST_OPERATIONS = 2, /* that a sample of a large size takes */
    SURVEY_STOLEN_NS = 1000000
};

struct survey_cell {
    enum paths_direction direction;
    enum path path;
    int size; /* index of cost_sizes */
};

struct survey {
    int64_t deadline_ns;
    int64_t stolen_ns; /* by which other programs may put that off */
    bool possible[PATHS_DIRECTIONS][SURVEY_WAYS][COST_SIZES]; /* not every way takes every size */
    struct cost_samples samples[PATHS_DIRECTIONS][SURVEY_WAYS][COST_SIZES];
    int round, at, direction, turn; /* of the next sample */
};

/* How long a kind of host may be measured: of this host, or of another one when so much time has
 * passed since the first was begun. 0: no more; it takes over what was found for another one. */
int64_t survey_budget(bool near, int64_t passed_ns);

/* What is left of that for samples; passed_ns: what waking the worker and the like took before. Of
 * a worker of this host, less if that took long, as beside other programs. */
int64_t survey_left(bool near, int64_t budget_ns, int64_t passed_ns);

/* By how much what other programs take may put its end off; passed_ns as above. */
int64_t survey_reserve(bool near, int64_t passed_ns);

/* The next sample. False: there are enough, or time is up. *survey is zero at the beginning, but
 * for what is possible, the deadline and what may be stolen. */
bool survey_next(struct survey *survey, int64_t now_ns, struct survey_cell *cell);

/* How long one operation of it took. What takes SURVEY_STOLEN_NS on one host has waited for a
 * processor, which does not count. */
void survey_took(struct survey *survey, int64_t took_ns);

/* What it took. */
void survey_add(struct survey *survey, const struct survey_cell *cell, double us);

/* What each way costs. No time is more than that of more data: disturbances only add. What was
 * sampled once, where other sizes were more often, is left out: it was not warm. */
void survey_result(const struct survey *survey, struct cost_curve curves[][PATH_COUNT]);

#endif
