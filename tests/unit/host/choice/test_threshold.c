/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_threshold.c: thresholds on machines whose times are known: a wrong one is corrected soon, a
 * right one stays, and no more than one transfer in 128 goes the other way.
 * Covers: threshold.c */
#include <stdlib.h>

#include "tests/unit/test.h"
#include "host/choice/threshold.h"

enum { KIB = 1024, FREE = 12 }; /* FREE: transfers of the first trials, which come early */

#define NEVER UINT64_MAX

/* What a transfer takes in truth: so much, and so much per KiB. */
struct truth {
    double rma_us, rma_per_kib, two_sided_us, two_sided_per_kib;
    int noise;     /* percent that a transfer may take more */
    int disturbed; /* one in so many takes ten times as long; 0: none */
};

static const struct truth rma_better = {.rma_us = 3, .two_sided_us = 5};
static const struct truth two_sided_better = {.rma_us = 9, .two_sided_us = 5};

static double took(const struct truth *truth, bool one_sided, double kib)
{
    double us = one_sided ? truth->rma_us + truth->rma_per_kib * kib
                          : truth->two_sided_us + truth->two_sided_per_kib * kib;

    us *= 1 + (truth->noise ? rand() % truth->noise : 0) / 100.0;
    return truth->disturbed && rand() % truth->disturbed == 0 ? 10 * us : us;
}

static void transfer(struct threshold *threshold, const struct truth *truth, uint64_t bytes)
{
    bool one_sided = bytes >= threshold->rma_from;

    if (!threshold_is_due(threshold, bytes))
        return;
    one_sided ^= threshold_next(threshold, bytes);
    threshold_sample(threshold, one_sided,
                     took(truth, one_sided, (double)threshold_size(bytes) / KIB));
}

static void run(struct threshold *threshold, const struct truth *truth, uint64_t bytes, int count)
{
    for (int i = 0; i < count; i++)
        transfer(threshold, truth, bytes);
}

static struct threshold begun(uint64_t rma_from)
{
    struct threshold threshold;

    threshold_begin(&threshold, rma_from, 1.25);
    return threshold;
}

TEST(a_wrong_choice_is_corrected_within_64)
{
    for (uint64_t bytes = 9000; bytes < UINT64_C(1) << 40; bytes *= 3) {
        struct threshold threshold = begun(NEVER);

        run(&threshold, &rma_better, bytes, 64);
        assert_true(threshold.rma_from == threshold_size(bytes));
        assert_int_equal(threshold.revisions, 1);
        assert_true(threshold.trial.there_us == 3 && threshold.trial.here_us == 5);
        threshold = begun(0);
        run(&threshold, &two_sided_better, bytes, 64);
        assert_true(threshold.rma_from == 2 * threshold_size(bytes));
    }
}

/* Size after size, as a program that grows: all those above follow at once. */
TEST(larger_sizes_follow)
{
    struct threshold threshold = begun(NEVER);

    for (uint64_t bytes = 16 * KIB; bytes <= 4096 * KIB; bytes *= 2)
        run(&threshold, &rma_better, bytes, 256);
    assert_int_equal(threshold.rma_from, 16 * KIB);
    assert_int_equal(threshold.revisions, 1);
}

TEST(it_moves_to_where_lines_cross)
{
    static const struct truth truth = {40, 0.1, 8, 0.3, 0, 0}; /* at 160 KiB */

    for (int from = 0; from < 2; from++) {
        struct threshold threshold = begun(from ? NEVER : 0);

        for (int i = 0; i < 60000; i++)
            transfer(&threshold, &truth, UINT64_C(16) * KIB << i % 7);
        assert_in_range(threshold.rma_from, 128 * KIB, 256 * KIB);
    }
}

TEST(a_right_choice_stays)
{
    struct truth close = {.rma_us = 6, .two_sided_us = 5, .noise = 5};
    struct threshold threshold = begun(0);

    srand(3);
    run(&threshold, &close, 64 * KIB, 100000); /* two-sided does not win by a quarter */
    assert_int_equal(threshold.rma_from, 0);
    threshold = begun(NEVER);
    run(&threshold, &close, 64 * KIB, 100000);
    assert_true(threshold.rma_from == NEVER);
    close.rma_us = 5; /* as good */
    run(&threshold, &close, 64 * KIB, 1000);
    assert_true(threshold.rma_from == NEVER);
    assert_int_equal(threshold.revisions, 0);
}

/* Whatever the times are, and whichever sizes are used. */
TEST(no_more_than_one_in_128_is_tried)
{
    srand(4);
    for (int i = 0; i < 500; i++) {
        struct truth truth = {
            1 + rand() % 50, rand() % 9 / 10.0, 1 + rand() % 50, rand() % 9 / 10.0, 50, 10};
        struct threshold threshold = begun(i % 3 ? UINT64_C(65536) << i % 5 : i % 2 ? NEVER : 0);

        for (int k = 0; k < 5000; k++) {
            transfer(&threshold, &truth, UINT64_C(16) * KIB << rand() % 8);
            if (threshold.tried > FREE + threshold.transfers / 128)
                fail_msg("%d of %d", (int)threshold.tried, (int)threshold.transfers);
        }
        assert_true(threshold.tried > 0);
    }
}

TEST(trials_that_change_nothing_become_rare)
{
    struct threshold threshold = begun(0);

    run(&threshold, &rma_better, 64 * KIB, 1 << 15);
    assert_in_range(threshold.trials, 9, 10);                /* at 32, 96, 224, 480, ... */
    assert_int_equal(threshold.tried, 2 * threshold.trials); /* two are enough to lose */
}

/* The best of three decides, because disturbances only add. */
TEST(disturbed_transfers_decide_little)
{
    static const struct truth truth = {.rma_us = 3, .two_sided_us = 5, .noise = 10, .disturbed = 8};
    int wrong = 0;

    srand(5);
    for (int i = 0; i < 1000; i++) {
        struct threshold threshold = begun(0);

        run(&threshold, &truth, 64 * KIB, 256);
        wrong += threshold.rma_from != 0;
        threshold = begun(NEVER);
        run(&threshold, &truth, 64 * KIB, 64);
        wrong += threshold.rma_from != 64 * KIB;
    }
    assert_in_range(wrong, 0, 60);
}

/* The first of a series finds data in the wrong caches. */
TEST(a_cold_first_transfer_does_not_decide)
{
    struct threshold threshold = begun(NEVER);
    bool before = false;

    for (int i = 0; i < 64; i++) {
        bool one_sided = 64 * KIB >= threshold.rma_from;

        if (!threshold_is_due(&threshold, 64 * KIB))
            continue;
        one_sided ^= threshold_next(&threshold, 64 * KIB);
        threshold_sample(&threshold, one_sided,
                         took(&rma_better, one_sided, 0) * (one_sided == before ? 1 : 1.8));
        before = one_sided;
    }
    assert_int_equal(threshold.rma_from, 64 * KIB);
}

/* The sizes nearest to the threshold tell most; those of both sides take turns. */
TEST(sizes_beside_the_threshold_are_tried)
{
    struct threshold threshold = begun(64 * KIB);
    static const struct truth same = {.rma_us = 5, .two_sided_us = 5};
    uint64_t tried[2] = {0};

    for (int i = 0; i < 4000; i++) {
        uint32_t trials = threshold.trials;

        transfer(&threshold, &same, UINT64_C(8) * KIB << i % 9);
        if (threshold.trials > trials)
            tried[threshold.trials % 2] = threshold.trial.bytes;
    }
    assert_int_equal(tried[1], 32 * KIB);
    assert_int_equal(tried[0], 64 * KIB);
}

/* Too few of them can be timed, or the program goes on to other sizes. */
TEST(a_trial_that_does_not_end_is_given_up)
{
    struct threshold threshold = begun(NEVER);

    run(&threshold, &rma_better, 64 * KIB, 34);
    assert_true(threshold.trial.going);
    run(&threshold, &rma_better, 1024 * KIB, 62);
    assert_true(threshold.trial.going);
    run(&threshold, &rma_better, 1024 * KIB, 4);
    assert_false(threshold.trial.going);
    run(&threshold, &rma_better, 1024 * KIB, 512);
    assert_int_equal(threshold.rma_from, 1024 * KIB);
}

/* Nobody waits for them, or other data is on its way. */
TEST(no_more_than_12_are_timed_in_vain)
{
    struct threshold threshold = begun(NEVER);
    int timed = 0;

    for (int i = 0; i < 100; i++)
        if (threshold_is_due(&threshold, 64 * KIB)) {
            assert_false(threshold_next(&threshold, 64 * KIB));
            timed++;
        }
    assert_int_equal(timed, 12);
    assert_int_equal(threshold.tried, 0);
}
