/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_survey.c: the start-up measurement on machines that are made up, with a clock that only they
 * move: it keeps its time, and what it finds is right although the machine is disturbed.
 * Covers: survey.c */
#include <stdlib.h>

#include "tests/unit/test.h"
#include "host/choice/cost.h"
#include "host/choice/survey.h"

enum { MS = 1000000, ROW = SURVEY_LEAST_OPERATIONS };

/* What an operation takes, by path: so much, and so much per byte. */
struct machine {
    double us[SURVEY_PATHS], per_byte[SURVEY_PATHS];
    bool near;        /* on one host, where others' slices do not count */
    bool no_window;   /* no one-sided transfers */
    int64_t slice_ns; /* somebody else has the worker's processor every other slice; 0: nobody */
    int64_t now_ns;
};

/* What needs the worker waits for it. */
static double operation(struct machine *machine, enum path path, int size)
{
    int64_t begin = machine->now_ns, slice = machine->slice_ns;

    if (slice && path != PATH_RMA && machine->now_ns / slice % 2)
        machine->now_ns += slice - machine->now_ns % slice;
    machine->now_ns +=
        (int64_t)(1e3 *
                  (machine->us[path] + machine->per_byte[path] * (double)survey_bytes(path, size)) *
                  (1 + rand() % 50 / 1000.0));
    return (double)(machine->now_ns - begin) / 1e3;
}

/* *longest_ns: of a sample. */
static struct survey surveyed(struct machine *machine, int64_t budget_ns, int64_t *longest_ns)
{
    struct survey survey = {
        .deadline_ns = machine->now_ns + budget_ns,
        .stolen_ns = survey_reserve(machine->near, 0),
        .one_sided = !machine->no_window,
    };
    struct survey_cell cell;

    *longest_ns = 0;
    while (survey_next(&survey, machine->now_ns, &cell)) {
        int64_t begin = machine->now_ns;
        double least = 1e12;

        assert_true(cell.path != PATH_RMA || survey.one_sided);
        for (int i = 0; i < ROW; i++) {
            double us = operation(machine, cell.path, cell.size);

            least = us < least ? us : least;
            survey_took(&survey, (int64_t)(1e3 * us));
        }
        survey_add(&survey, &cell, least);
        if (machine->now_ns - begin > *longest_ns)
            *longest_ns = machine->now_ns - begin;
    }
    return survey;
}

static struct machine usual(void)
{
    return (struct machine){.us = {0.6, 2, 1}, .per_byte = {0.0006, 0.00002, 0.0001}};
}

/* Whatever a machine is like, from shared memory to a slow line, and disturbed or not. */
TEST(it_keeps_its_time)
{
    srand(1);
    for (int i = 0; i < 2000; i++) {
        double speed = i % 4 ? 1 + rand() % 50 : 1e3;
        struct machine machine = {.near = i % 2, .slice_ns = i % 3 ? 0 : (1 + rand() % 5) * MS};
        int64_t budget = survey_budget(i % 2, 0), reserve = survey_reserve(i % 2, 0), longest;

        for (enum path path = 0; path <= PATH_TWO_SIDED; path++) {
            machine.us[path] = speed * (0.3 + rand() % 100 / 50.0);
            machine.per_byte[path] = speed * (1 + rand() % 100) / 1e6;
        }
        surveyed(&machine, budget, &longest);
        assert_true(machine.now_ns < budget + reserve + longest);
        if (!machine.near && !machine.slice_ns && speed < 100)
            assert_true(machine.now_ns < budget + budget / 10);
    }
}

TEST(a_slow_line_is_not_filled)
{
    struct machine machine = {.us = {100, 300, 200}, .per_byte = {0.08, 0.08, 0.08}};
    int64_t longest;
    struct survey survey = surveyed(&machine, survey_budget(false, 0), &longest);

    assert_int_equal(survey.samples[PATHS_SUBMIT][PATH_RMA][1].count, 0);
    assert_true(survey.samples[PATHS_SUBMIT][PATH_RMA][0].count > 0);
    assert_true(machine.now_ns < 60 * MS);
}

TEST(rounds_go_on_while_there_is_time)
{
    struct machine machine = usual();
    int64_t longest;
    struct survey survey = surveyed(&machine, 1000 * MS, &longest);

    for (int size = 0; size < SURVEY_SIZES; size++)
        for (enum path path = 0; path <= PATH_TWO_SIDED; path++)
            assert_int_equal(survey.samples[PATHS_RETRIEVE][path][size].count, COST_SAMPLES);
}

TEST(without_a_window_nothing_goes_one_sided)
{
    struct machine machine = usual();
    struct cost costs[PATHS_DIRECTIONS][PATH_COUNT];
    int64_t longest;
    struct survey survey;

    machine.no_window = true;
    survey = surveyed(&machine, 6 * MS, &longest);
    survey_result(&survey, costs);
    assert_true(costs[PATHS_SUBMIT][PATH_RMA].us == 0);
    assert_true(costs[PATHS_SUBMIT][PATH_TWO_SIDED].us_per_kib > 0);
}

/* One of two paths was sampled at the large size: the small one decides. */
TEST(paths_are_compared_by_the_same_sizes)
{
    struct survey survey = {.one_sided = true};
    struct cost costs[PATHS_DIRECTIONS][PATH_COUNT];

    for (int i = 0; i < 4; i++) {
        survey_add(&survey, &(struct survey_cell){PATHS_RETRIEVE, PATH_RMA, 0}, 10);
        survey_add(&survey, &(struct survey_cell){PATHS_RETRIEVE, PATH_RMA, 1}, 40);
        survey_add(&survey, &(struct survey_cell){PATHS_RETRIEVE, PATH_TWO_SIDED, 0}, 20);
    }
    survey_result(&survey, costs);
    assert_true(costs[PATHS_RETRIEVE][PATH_RMA].us == 10);
    assert_true(costs[PATHS_RETRIEVE][PATH_RMA].us_per_kib == 0);
    assert_true(costs[PATHS_RETRIEVE][PATH_TWO_SIDED].us == 20);
    assert_true(costs[PATHS_SUBMIT][PATH_RMA].us == 0);
}

/* Who begins finds the data in other caches than who comes next. */
TEST(who_begins_changes)
{
    struct survey survey = {.deadline_ns = MS, .one_sided = true};
    struct survey_cell cell;
    int begun[SURVEY_PATHS] = {0}, taken = 0;

    for (; survey_next(&survey, 0, &cell); taken++) {
        begun[cell.path] += taken % SURVEY_PATHS == 0;
        survey_add(&survey, &cell, 0);
    }
    assert_int_equal(taken, COST_SAMPLES * SURVEY_SIZES * PATHS_DIRECTIONS * SURVEY_PATHS);
    assert_int_equal(begun[PATH_RMA], begun[PATH_INLINE]);
    assert_int_equal(begun[PATH_RMA], taken / SURVEY_PATHS / 2);
}

/* Starts of 1000 that are wrong, while somebody computes on the worker's processor half of the
 * time, from any moment on. */
static int wrong_starts(bool two_sided)
{
    int wrong = 0;

    srand(2);
    for (int start = 0; start < 1000; start++) {
        struct machine machine = usual();
        struct cost costs[PATHS_DIRECTIONS][PATH_COUNT];
        const struct cost *submit = costs[PATHS_SUBMIT], *retrieve = costs[PATHS_RETRIEVE];
        struct cost_others others = {.rma = &retrieve[PATH_RMA]};
        int64_t longest;
        struct survey survey;
        bool never;

        machine.near = true;
        machine.slice_ns = (1 + start % 4) * MS;
        machine.now_ns = rand() % (8 * MS);
        if (two_sided) /* it is the better one by far */
            machine.per_byte[PATH_RMA] = 0.0003;
        survey = surveyed(&machine, survey_budget(true, 0), &longest);
        survey_result(&survey, costs);
        never = cost_rma_from(&submit[PATH_RMA], &submit[PATH_TWO_SIDED],
                              cost_two_sided_ratio(true)) == COST_NEVER;
        wrong += never != two_sided;
        assert_true(cost_inline_most(&retrieve[PATH_INLINE], false, 8192, &others) >= 1024);
    }
    return wrong;
}

TEST(a_busy_processor_changes_little)
{
    assert_in_range(wrong_starts(false), 0, 20);
    assert_in_range(wrong_starts(true), 0, 20);
}

TEST(hosts_share_their_time)
{
    int64_t passed = survey_budget(true, 0), longest;
    int measured = 0;

    assert_true(passed <= 20 * MS);
    for (int host = 0; host < 64; host++) {
        struct machine machine = {.us = {50, 100, 101}, .now_ns = passed};
        int64_t budget = survey_budget(false, passed);

        if (!budget)
            continue;
        surveyed(&machine, budget, &longest);
        passed = machine.now_ns;
        measured++;
    }
    assert_true(measured >= 2);
    assert_true(passed <= 90 * MS);
}

/* But only so much of it. */
TEST(stolen_time_does_not_count)
{
    struct survey survey = {.deadline_ns = 20 * MS, .stolen_ns = 10 * MS};

    survey_took(&survey, MS - 1);
    assert_int_equal(survey.deadline_ns, 20 * MS);
    survey_took(&survey, 4 * MS);
    assert_int_equal(survey.deadline_ns, 24 * MS);
    survey_took(&survey, 4 * MS);
    survey_took(&survey, 4 * MS);
    survey_took(&survey, 4 * MS);
    assert_int_equal(survey.deadline_ns, 30 * MS);
}

/* Whatever other programs take, and whenever samples begin: one host is measured within 20 ms. */
TEST(one_host_keeps_its_time_whatever_is_stolen)
{
    for (int64_t passed = 0; passed <= 13 * MS; passed += MS / 4) {
        int64_t left = survey_left(true, survey_budget(true, 0), passed);

        assert_int_equal(passed + left + survey_reserve(true, passed), 15 * MS);
    }
    /* If waking the worker took so long. */
    assert_int_equal(survey_left(true, survey_budget(true, 0), 18 * MS), 2 * MS);
    assert_int_equal(survey_reserve(true, 18 * MS), 0);
    /* A line that is slow is nobody's theft. */
    assert_int_equal(survey_left(false, survey_budget(false, 0), 18 * MS), survey_budget(false, 0));
    assert_int_equal(survey_reserve(false, 0), 0);
}
