/* test_contest.c: contests between ways whose true times are known: what is wrong is corrected
 * soon, what is right stays, and trying costs little. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

#include "host/contest.h"

/* What the ways take in truth, and how transfers went so far. */
struct truth {
    double us[CONTEST_WAYS];
    int noise;     /* percent that a transfer may take more */
    int disturbed; /* one transfer in so many takes 20 times as long; 0: none */
    double cold;  /* the first of a series of one way takes so many times as long; 0: it does not */
    int last;     /* the way of the last transfer */
    double spent; /* in all, */
    double least; /* and by the best way */
};

static int best_of(const struct truth *truth, int ways)
{
    int best = 0;

    for (int way = 1; way < ways; way++)
        best = truth->us[way] < truth->us[best] ? way : best;
    return best;
}

static void transfer(struct contest *contest, struct truth *truth, bool can_time)
{
    bool timed;
    int way = contest_next(contest, can_time, &timed);
    double us = truth->us[way] * (1 + (truth->noise ? rand() % truth->noise : 0) / 100.0);

    truth->spent += truth->us[way];
    truth->least += truth->us[best_of(truth, contest->ways)];
    if (truth->cold > 0 && way != truth->last)
        us *= truth->cold;
    truth->last = way;
    if (truth->disturbed && rand() % truth->disturbed == 0)
        us *= 20;
    assert_true(can_time || !timed);
    if (timed)
        contest_sample(contest, way, us);
}

static void run(struct contest *contest, struct truth *truth, int transfers)
{
    for (int i = 0; i < transfers; i++)
        transfer(contest, truth, true);
}

static void run_until_revised(struct contest *contest, struct truth *truth, int most)
{
    for (int i = 0; i < most && !contest->revisions; i++)
        transfer(contest, truth, true);
}

static struct contest begun(int ways, int current, const double us[])
{
    struct contest contest;

    contest_begin(&contest, ways, current, us);
    return contest;
}

static void a_wrong_choice_is_corrected_within_64(void **state)
{
    static const double scales[] = {1, 20, 20000}; /* a transfer of so many microseconds */
    static const double expected[][2] = {{1, 2}, {1, 1.1}, {1, 6}, {0, 0}};

    (void)state;
    srand(1);
    for (int i = 0; i < 3000; i++) {
        double scale = scales[i % 3];
        const double us[] = {scale * expected[i % 4][0], scale * expected[i % 4][1]};
        struct contest contest = begun(2, 0, us);
        struct truth truth = {.us = {scale, scale * (0.3 + i % 5 / 10.0)}, .noise = 8};

        run(&contest, &truth, 64);
        assert_int_equal(contest.current, 1);
        assert_int_equal(contest.first, 0);
        assert_int_equal(contest.revisions, 1);
        assert_true(contest.gained_us > 0);
    }
}

static void of_three_ways_too(void **state)
{
    (void)state;
    srand(2);
    for (int i = 0; i < 300; i++) {
        const double us[] = {50, 70, 80};
        struct contest contest = begun(3, 0, us);
        struct truth truth = {.us = {90, i % 2 ? 50 : 70, i % 2 ? 70 : 50}, .noise = 5};

        run(&contest, &truth, 64);
        assert_int_equal(contest.current, best_of(&truth, 3));
    }
}

/* It finds its data in the caches of the other side. */
static void the_first_of_a_series_does_not_decide(void **state)
{
    const double us[] = {10, 14};
    struct contest contest = begun(2, 0, us);
    struct truth truth = {.us = {10, 7}, .noise = 5, .cold = 4};

    (void)state;
    srand(7);
    run(&contest, &truth, 64);
    assert_int_equal(contest.current, 1);
}

/* One sample in 20 is disturbed: nearly all wrong choices are found as soon all the same. */
static void disturbed_samples_change_little(void **state)
{
    int late = 0, flipped = 0;

    (void)state;
    srand(3);
    for (int i = 0; i < 1000; i++) {
        const double us[] = {10, 14};
        struct contest wrong = begun(2, 0, us), right = begun(2, 0, us);
        struct truth truth = {.us = {10, 6}, .noise = 8, .disturbed = 20};
        struct truth kept = {.us = {10, 14}, .noise = 8, .disturbed = 20};

        run(&wrong, &truth, 64);
        run(&right, &kept, 1000);
        late += wrong.current != 1;
        flipped += right.current != 0;
    }
    assert_true(late <= 30);
    assert_true(flipped <= 5);
}

/* For a while another program has the processor that one of the ways needs. */
static void a_bad_moment_changes_nothing(void **state)
{
    const double us[] = {1.5, 4};

    (void)state;
    srand(8);
    for (int bad = 1; bad < 56; bad++) {
        struct contest contest = begun(2, 0, us);
        struct truth truth = {.us = {1.5, 4}, .noise = 8};

        run(&contest, &truth, bad % 9);
        truth.us[0] = 4000;
        run(&contest, &truth, bad);
        assert_int_equal(contest.revisions, 0);
        truth.us[0] = 1.5;
        run(&contest, &truth, 200);
        assert_int_equal(contest.revisions, 0);
    }
}

/* What was no disturbance is believed in the end. */
static void what_stays_is_believed(void **state)
{
    const double us[] = {1.5, 4};
    struct contest contest = begun(2, 0, us);
    struct truth truth = {.us = {4000, 4}, .noise = 8};

    (void)state;
    srand(9);
    run(&contest, &truth, 200);
    assert_int_equal(contest.current, 1);
}

/* Sooner where of one way nothing is known, so that what is expected says less. */
static void what_stays_is_believed_sooner(void **state)
{
    const double us[] = {1.5, 0};
    struct contest contest = begun(2, 0, us);
    struct truth truth = {.us = {4000, 4}, .noise = 8};

    (void)state;
    srand(15);
    run(&contest, &truth, 64);
    assert_int_equal(contest.current, 1);
}

/* Longer than a bad moment should last: the way that lost by it is looked at again soon, although
 * it seemed so slow that it could not be paid for. */
static void a_long_bad_moment_is_made_good_soon(void **state)
{
    const double us[] = {1.5, 4};
    struct contest contest = begun(2, 0, us);
    struct truth truth = {.us = {4000, 4}, .noise = 8};

    (void)state;
    srand(12);
    run_until_revised(&contest, &truth, 200);
    assert_int_equal(contest.current, 1);
    truth.us[0] = 1.5;
    run(&contest, &truth, 64 + 2 * CONTEST_SAMPLES);
    assert_int_equal(contest.current, 0);
    assert_int_equal(contest.revisions, 2);
}

/* It is looked at once, and then as often as it can be paid for. */
static void a_loser_is_looked_at_once(void **state)
{
    const double us[] = {10, 20};
    struct contest contest = begun(2, 0, us);
    struct truth truth = {.us = {4000, 4}, .noise = 8};
    int looks = 0;

    (void)state;
    srand(13);
    run_until_revised(&contest, &truth, 200);
    assert_int_equal(contest.current, 1);
    for (int i = 0; i < 20000; i++) {
        transfer(&contest, &truth, true);
        looks += truth.last == 0;
        assert_true(looks == 0 || i >= 60);
        assert_true(looks > 0 || i < 80);
    }
    assert_int_equal(contest.revisions, 1);
    assert_in_range(looks, 1, CONTEST_SAMPLES);
}

/* Nor does a third way that is dear keep it from that. */
static void a_loser_of_three_is_looked_at(void **state)
{
    const double us[] = {1.5, 4, 4000};
    struct contest contest = begun(3, 0, us);
    struct truth truth = {.us = {4000, 4, 4000}, .noise = 8};

    (void)state;
    srand(14);
    run_until_revised(&contest, &truth, 400);
    assert_int_equal(contest.current, 1);
    truth.us[0] = 1.5;
    run(&contest, &truth, 2 * (64 + 2 * CONTEST_SAMPLES));
    assert_int_equal(contest.current, 0);
}

/* Nor is it tried for ever. */
static void a_disturbed_rival_is_paid_for(void **state)
{
    const double us[] = {4, 1.5};
    struct contest contest = begun(2, 0, us);
    struct truth truth = {.us = {4, 4000}, .noise = 8};

    (void)state;
    srand(10);
    run(&contest, &truth, 100000);
    assert_int_equal(contest.current, 0);
    assert_true(contest.spent_us < 40000);
    assert_true(truth.spent < truth.least + 40000);
}

static void equal_ways_do_not_change_places(void **state)
{
    (void)state;
    srand(4);
    for (int i = 0; i < 200; i++) {
        const double us[] = {10, 10};
        struct contest contest = begun(2, 0, us);
        struct truth truth = {.us = {10, 9.6}, .noise = 8, .disturbed = 50};

        run(&contest, &truth, 10000);
        assert_true(contest.revisions <= 2);
    }
}

/* However much worse the other ways are. */
static void trying_costs_less_than_one_percent(void **state)
{
    (void)state;
    srand(5);
    for (int i = 0; i < 60; i++) {
        const double us[] = {10, 5 + i % 10, 0};
        struct contest contest = begun(2 + i % 2, 0, us);
        struct truth truth = {.us = {10, 12 + 20 * i, 11 + i * i}, .noise = 8};

        run(&contest, &truth, 4000 * (i + 10) * (i / 10 + 1));
        assert_int_equal(contest.current, 0);
        assert_true(truth.spent < 1.01 * truth.least);
        assert_true(contest.rounds >= 2);
    }
}

/* Until the next round is over. */
static void run_round(struct contest *contest, struct truth *truth)
{
    uint32_t rounds = contest->rounds;
    int transfers = 0;

    for (; contest->rounds == rounds || contest->round; transfers++) {
        assert_true(transfers < 100000);
        transfer(contest, truth, true);
    }
}

/* Better by 15 % for one round only, then for two. */
static void a_close_win_is_looked_at_again(void **state)
{
    const double us[] = {10, 12};
    struct contest contest = begun(2, 0, us);
    struct truth worse = {.us = {10, 12}}, better = {.us = {10, 8.5}}, far = {.us = {10, 7}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        run_round(&contest, &better);
        assert_int_equal(contest.current, 0);
        run_round(&contest, &worse);
        assert_int_equal(contest.revisions, 0);
    }
    run_round(&contest, &better);
    run_round(&contest, &better);
    assert_int_equal(contest.current, 1);
    contest = begun(2, 0, us);
    run_round(&contest, &far);
    assert_int_equal(contest.current, 1);
}

/* The second look is at the same one, and it does not wait for credit. */
static void a_close_win_of_three(void **state)
{
    const double us[] = {1e6, 1.2e6, 1.2e6};
    struct contest contest = begun(3, 0, us);
    struct truth truth = {.us = {1e6, 0.85e6, 0.85e6}};

    (void)state;
    run_round(&contest, &truth);
    assert_int_equal(contest.current, 0);
    assert_int_equal(contest.rival, 1);
    run(&contest, &truth, 8 + 2 * CONTEST_SAMPLES);
    assert_int_equal(contest.current, 1);
}

/* Of 0.1 ms, in rounds that are far apart. */
static void what_is_short_and_stays_is_believed(void **state)
{
    const double us[] = {1.5, 4};
    struct contest contest = begun(2, 0, us);
    struct truth truth = {.us = {100, 4}, .noise = 8};

    (void)state;
    srand(11);
    run(&contest, &truth, 1000);
    assert_int_equal(contest.current, 1);
}

/* The world changes, and changes back. */
static void it_corrects_both_ways(void **state)
{
    const double us[] = {10, 20};
    struct contest contest = begun(2, 0, us);
    struct truth truth = {.us = {10, 20}, .noise = 5};

    (void)state;
    srand(6);
    run(&contest, &truth, 500);
    assert_int_equal(contest.current, 0);
    truth.us[0] = 40;
    run(&contest, &truth, 20000);
    assert_int_equal(contest.current, 1);
    truth.us[0] = 10;
    run(&contest, &truth, 20000);
    assert_int_equal(contest.current, 0);
    assert_int_equal(contest.revisions, 2);
    assert_true(contest.gain_us == 0); /* back at what start-up chose */
}

static void without_time_nothing_is_tried(void **state)
{
    const double us[] = {10, 20};
    struct contest contest = begun(2, 0, us);
    struct truth truth = {.us = {10, 5}};

    (void)state;
    for (int i = 0; i < 1000; i++)
        transfer(&contest, &truth, false);
    assert_int_equal(contest.rounds, 0);
    assert_true(contest_is_due(&contest));
}

/* Transfers that are tried and always disturbed, of one way or of both: a round ends. */
static void lost_samples_end_a_round(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        const double us[] = {10, 20};
        struct contest contest = begun(2, 0, us);
        int tried = 0;

        for (int i = 0; i < 1000; i++) {
            bool timed;
            int way = contest_next(&contest, true, &timed);

            tried += way == 1;
            if (way == 0 && timed && !both)
                contest_sample(&contest, way, 10);
        }
        assert_in_range(tried, 0, 3 * CONTEST_TRIES);
        assert_true(contest.rounds >= 2 && !(both && tried));
        assert_int_equal(contest.current, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_choice_is_corrected_within_64),
        cmocka_unit_test(of_three_ways_too),
        cmocka_unit_test(the_first_of_a_series_does_not_decide),
        cmocka_unit_test(disturbed_samples_change_little),
        cmocka_unit_test(a_bad_moment_changes_nothing),
        cmocka_unit_test(what_stays_is_believed),
        cmocka_unit_test(what_stays_is_believed_sooner),
        cmocka_unit_test(a_long_bad_moment_is_made_good_soon),
        cmocka_unit_test(a_loser_is_looked_at_once),
        cmocka_unit_test(a_loser_of_three_is_looked_at),
        cmocka_unit_test(a_disturbed_rival_is_paid_for),
        cmocka_unit_test(equal_ways_do_not_change_places),
        cmocka_unit_test(trying_costs_less_than_one_percent),
        cmocka_unit_test(a_close_win_is_looked_at_again),
        cmocka_unit_test(a_close_win_of_three),
        cmocka_unit_test(what_is_short_and_stays_is_believed),
        cmocka_unit_test(it_corrects_both_ways),
        cmocka_unit_test(without_time_nothing_is_tried),
        cmocka_unit_test(lost_samples_end_a_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
