/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_cost.c: what is made of samples: one disturbed sample changes nothing, a line holds at all
 * sizes, and thresholds are where lines cross.
 * Covers: cost.c */
#include <stdlib.h>

#include "tests/unit/test.h"
#include "host/choice/cost.h"

static struct cost_samples taken(const double *us, int count)
{
    struct cost_samples samples = {0};

    for (int i = 0; i < count; i++)
        cost_sample(&samples, us[i]);
    return samples;
}

#define TAKEN(...)                                                                                 \
    taken((const double[]){__VA_ARGS__}, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))

TEST(one_disturbed_sample_changes_nothing)
{
    struct cost_samples clean = TAKEN(10, 10.2, 10.1, 10.3, 10);

    for (int at = 0; at < 5; at++) {
        double us[] = {10, 10.2, 10.1, 10.3, 10};
        struct cost_samples disturbed;

        us[at] = 4000;
        disturbed = taken(us, 5);
        assert_true(cost_of(&disturbed) < 1.03 * cost_of(&clean));
        us[at] = 0.1; /* nor does one that is too good to be true */
        disturbed = taken(us, 5);
        assert_true(cost_of(&disturbed) > 0.97 * cost_of(&clean));
    }
    assert_true(cost_spread(&clean) < 0.03);
}

TEST(few_samples_and_too_many)
{
    struct cost_samples samples = {0};

    assert_true(cost_of(&samples) == 0 && cost_spread(&samples) == 0);
    cost_sample(&samples, 7);
    assert_true(cost_of(&samples) == 7 && cost_spread(&samples) == 0);
    for (int i = 0; i < 100; i++)
        cost_sample(&samples, 100 - i);
    assert_int_equal(samples.count, COST_SAMPLES);
    for (int i = 1; i < samples.count; i++)
        assert_true(samples.us[i - 1] <= samples.us[i]);
}

static struct cost_samples all_of(double us)
{
    struct cost_samples samples = {0};

    for (int i = 0; i < 5; i++)
        cost_sample(&samples, us);
    return samples;
}

/* Through the times of 16 and 128 KiB. */
static struct cost through(double small_us, double large_us)
{
    struct cost_samples small = all_of(small_us), large = all_of(large_us);

    return cost_line(&small, 16 << 10, &large, 128 << 10);
}

static bool is_about(double a, double b)
{
    return a > 0.999 * b && a < 1.001 * b;
}

TEST(a_line_holds_at_all_sizes)
{
    struct cost cost = through(5 + 16 * 0.5, 5 + 128 * 0.5), unknown = {0};

    for (uint64_t kib = 1; kib < UINT64_C(1) << 30; kib *= 3)
        assert_true(is_about(cost_at(&cost, kib << 10), 5 + 0.5 * (double)kib));
    assert_int_equal(cost.samples, 5);
    assert_true(cost_at(&unknown, 4096) == 0);
}

TEST(lines_through_noise)
{
    struct cost falls = through(20, 10), steep = through(10, 200);

    assert_true(is_about(cost_at(&falls, 8), 10)); /* more data never takes less time */
    assert_true(is_about(cost_at(&falls, 1 << 30), 10));
    assert_true(cost_at(&steep, 8) > 2); /* latency is never free */
    assert_true(is_about(cost_at(&steep, 128 << 10), 200));
}

TEST(too_few_samples_say_nothing)
{
    struct cost_samples two = TAKEN(5, 5), enough = TAKEN(5, 5, 5, 6), large = TAKEN(50, 50, 50);
    struct cost cost = cost_line(&two, 16 << 10, &large, 128 << 10);

    assert_true(cost.us == 0 && cost.us_per_kib == 0);
    cost = cost_line(&enough, 16 << 10, &two, 128 << 10); /* it holds for all sizes then */
    assert_true(cost.us == 5 && cost.us_per_kib == 0);
    assert_int_equal(cost.samples, 4);
    cost = cost_line(&enough, 16 << 10, &large, 128 << 10);
    assert_int_equal(cost.samples, 3);
}

/* ---- thresholds ---- */

static const double near = 1.25;

TEST(one_sided_from_where_lines_cross)
{
    struct cost flat = {.us = 18, .us_per_kib = 0.1}, steep = {.us = 8, .us_per_kib = 0.3};

    assert_int_equal(cost_rma_from(&flat, &steep, 1), 64 << 10);    /* they meet at 50 KiB */
    assert_int_equal(cost_rma_from(&flat, &steep, near), 32 << 10); /* with a quarter, at 29 */
    assert_true(cost_rma_from(&steep, &flat, near) == COST_NEVER);  /* large data decides */
}

TEST(two_sided_has_to_win_by_a_quarter)
{
    struct cost two_sided = {.us = 100}, close = {.us = 124}, clear = {.us = 126};

    assert_true(cost_two_sided_ratio(true) == near);
    assert_int_equal(cost_rma_from(&close, &two_sided, near), 0);
    assert_true(cost_rma_from(&clear, &two_sided, near) == COST_NEVER);
    close.us = 106;
    assert_true(cost_rma_from(&close, &two_sided, cost_two_sided_ratio(false)) == COST_NEVER);
    close.us = 104;
    assert_int_equal(cost_rma_from(&close, &two_sided, cost_two_sided_ratio(false)), 0);
}

TEST(one_transfer_each_way_tells_what_is_far_longer)
{
    assert_true(cost_is_far_longer(20000000, 900000));
    assert_false(cost_is_far_longer(1700000, 900000));
    assert_false(cost_is_far_longer(20000000, 0));
}

TEST(what_is_unknown_goes_one_sided)
{
    struct cost known = {.us = 1}, unknown = {0};

    assert_int_equal(cost_rma_from(&known, &unknown, near), 0);
    assert_int_equal(cost_rma_from(&unknown, &known, near), 0);
    assert_int_equal(cost_rma_from(&unknown, &unknown, near), 0);
}

TEST(messages_up_to_where_lines_meet)
{
    struct cost small = {.us = 1, .us_per_kib = 2}, rma = {.us = 1.5, .us_per_kib = 0.1},
                two_sided = {.us = 1.1}, equal = {.us = 2}, unknown = {0};
    struct cost_others others = {.rma = &rma, .two_sided = &two_sided};

    assert_int_equal(cost_inline_most(&small, false, 0, &others), 256);
    assert_int_equal(cost_inline_most(&small, true, 0, &others), 512);
    others.rma_from = 512; /* below that data goes two-sided */
    assert_int_equal(cost_inline_most(&small, false, 0, &others), 32);
    others.two_sided_from = 1024; /* which is not possible there: nothing else is */
    assert_int_equal(cost_inline_most(&small, false, 0, &others), 256);
    others.rma_from = COST_NEVER;
    others.two_sided_from = COST_INLINE_MOST + 1;
    assert_int_equal(cost_inline_most(&small, false, 0, &others), COST_INLINE_MOST);
    others = (struct cost_others){.rma = &equal};
    assert_int_equal(cost_inline_most(&equal, false, 0, &others), COST_EAGER);
    assert_int_equal(cost_inline_most(&equal, false, 4096, &others), 4096);
    small = (struct cost){.us = 2.4}; /* slower by a fifth */
    assert_int_equal(cost_inline_most(&small, false, 4096, &others), 4096);
    assert_int_equal(cost_inline_most(&small, false, 0, &others), 0);
    small.us = 2.6;
    assert_int_equal(cost_inline_most(&small, false, 4096, &others), 0);
    assert_int_equal(cost_inline_most(&unknown, false, 0, &others), COST_EAGER);
    assert_int_equal(cost_inline_most(&unknown, false, 4096, &others), 4096);
    others.rma = &unknown;
    assert_int_equal(cost_inline_most(&small, false, 0, &others), COST_EAGER);
}

/* A start with noise: one sample in ten takes ten times as long, and all have a tenth more or less.
 * A path that is slower is hardly ever thought to be the faster one by a quarter. */
TEST(noisy_starts_choose_well)
{
    int wrong = 0;

    srand(9);
    for (int start = 0; start < 1000; start++) {
        const double true_us[] = {10, 10.0 + (start % 100) / 5.0};
        struct cost_samples samples[2] = {0}, none = {0};
        struct cost costs[2];

        for (int i = 0; i < 6; i++)
            for (int path = 0; path < 2; path++) {
                double us = true_us[path] * (1 + rand() % 100 / 1000.0);

                cost_sample(&samples[path], rand() % 10 ? us : 10 * us);
            }
        for (int path = 0; path < 2; path++)
            costs[path] = cost_line(&samples[path], 1, &none, 2);
        wrong += cost_rma_from(&costs[0], &costs[1], near) != 0;
        wrong += true_us[1] > 14 && cost_rma_from(&costs[1], &costs[0], near) == 0;
    }
    assert_true(wrong <= 5);
}
