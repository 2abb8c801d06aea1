/* test_cost.c: what is made of samples: one disturbed sample changes nothing, curves cross where
 * they should, and what is close is seen to be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

#include "host/cost.h"

static struct cost_samples taken(const double *us, int count)
{
    struct cost_samples samples = {0};

    for (int i = 0; i < count; i++)
        cost_sample(&samples, us[i]);
    return samples;
}

#define TAKEN(...)                                                                                 \
    taken((const double[]){__VA_ARGS__}, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))

static void one_disturbed_sample_changes_nothing(void **state)
{
    struct cost_samples clean = TAKEN(10, 10.2, 10.1, 10.3, 10);

    (void)state;
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

static void few_samples_and_too_many(void **state)
{
    struct cost_samples samples = {0};

    (void)state;
    assert_true(cost_of(&samples) == 0 && cost_spread(&samples) == 0);
    cost_sample(&samples, 7);
    assert_true(cost_of(&samples) == 7 && cost_spread(&samples) == 0);
    for (int i = 0; i < 100; i++)
        cost_sample(&samples, 100 - i);
    assert_int_equal(samples.count, COST_SAMPLES);
    for (int i = 1; i < samples.count; i++)
        assert_true(samples.us[i - 1] <= samples.us[i]);
}

static void close_ways_want_more_samples(void **state)
{
    struct cost_samples slow = TAKEN(20, 21, 22, 20, 20, 21, 22, 20),
                        fast = TAKEN(10, 11, 12, 10, 10, 11, 12, 10),
                        near = TAKEN(18, 18, 19, 18, 18, 18, 19, 18), few = TAKEN(1, 1),
                        apart = TAKEN(1, 2), scattered = TAKEN(30, 40, 50, 60, 70, 80, 90, 100),
                        none = {0}, two_states = TAKEN(10, 10, 10, 10, 50, 50, 50, 50),
                        rough = TAKEN(10, 10, 10, 13, 13, 13, 13, 13);

    (void)state;
    assert_true(cost_is_clear(&slow, &fast));
    assert_true(cost_is_clear(&fast, &slow));
    assert_false(cost_is_clear(&slow, &near));
    assert_false(cost_is_clear(&slow, &few));
    assert_false(cost_is_clear(&slow, &none));
    assert_false(cost_is_clear(&scattered, &fast));
    assert_true(cost_is_repeated(&slow) && cost_is_repeated(&few));
    assert_false(cost_is_repeated(&scattered) || cost_is_repeated(&none));
    assert_true(cost_is_rough(&scattered) && !cost_is_rough(&slow));
    assert_true(cost_is_rough(&few));
    assert_true(isinf(cost_doubt(&apart)) && cost_doubt(&few) == 1.5 && cost_doubt(&rough) == 1.5 &&
                cost_doubt(&slow) > 1 && cost_doubt(&slow) < 1.5);
    assert_true(cost_doubt(&two_states) > 2.5 && cost_doubt(&two_states) < 5);
    assert_true(cost_of(&scattered) == 30);
}

/* So much per operation and so much per byte. */
static struct cost_curve line(double us, double per_byte, uint64_t least, uint64_t most)
{
    struct cost_curve curve = {0};

    for (int i = 0; i < COST_SIZES; i++)
        if (cost_sizes[i] >= least && cost_sizes[i] <= most)
            curve.us[i] = us + per_byte * (double)cost_sizes[i];
    return curve;
}

static void curves_hold_between_and_beyond_sizes(void **state)
{
    struct cost_curve curve = line(5, 0.001, 0, UINT64_MAX), none = {0}, one = line(3, 0, 8, 8);

    (void)state;
    for (uint64_t bytes = 8; bytes < UINT64_C(1) << 40; bytes = 3 * bytes / 2) {
        double exact = 5 + 0.001 * (double)bytes, time = cost_at(&curve, bytes);

        assert_true(time > 0.999 * exact && time < 1.001 * exact);
    }
    assert_true(cost_at(&none, 4096) == 0);
    assert_true(cost_at(&one, 4096) == 3);
    curve = line(100, 0, 32768, UINT64_MAX);
    assert_true(cost_at(&curve, 8) >= 50); /* latency does not shrink with the size */
    curve.us[COST_SIZES - 1] = 50;         /* noise: more data in less time */
    assert_true(cost_at(&curve, 1 << 28) >= 50);
}

static void crossing_curves_change_places_once(void **state)
{
    /* They meet at 160 KB. */
    struct cost_curve flat = line(40, 0.0001, 0, UINT64_MAX),
                      steep = line(8, 0.0003, 0, UINT64_MAX);
    uint64_t classes = cost_classes(&flat, &steep);

    (void)state;
    for (unsigned class = 0; class < COST_CLASSES; class ++)
        assert_int_equal(classes >> class & 1, class >= 17);
    classes = cost_classes(&steep, &flat);
    for (unsigned class = 0; class < COST_CLASSES; class ++)
        assert_int_equal(classes >> class & 1, class < 17);
}

/* The second way has to be better by more than is doubted, and within a host by a quarter more
 * beyond the largest size measured. */
static void what_is_close_stays_with_the_first_way(void **state)
{
    const uint64_t all = (UINT64_C(1) << COST_CLASSES) - 1;
    const uint64_t beyond = all & ~((UINT64_C(1) << 20) - 1);
    struct cost_curve second = line(100, 0, 0, UINT64_MAX), first = line(102, 0, 0, UINT64_MAX);
    struct cost_curve worse = line(108, 0, 0, UINT64_MAX), clear = line(130, 0, 0, UINT64_MAX);

    (void)state;
    assert_true(cost_classes(&first, &second) == all);
    assert_true(cost_classes(&worse, &second) == 0);
    worse.near = clear.near = true;
    assert_true(cost_classes(&worse, &second) == beyond);
    for (int i = 0; i < COST_SIZES; i++)
        second.doubt[i] = 1.13F;
    assert_true(cost_classes(&worse, &second) == all);
    assert_true(cost_classes(&clear, &second) == beyond);
    clear = line(150, 0, 0, UINT64_MAX);
    clear.near = true;
    assert_true(cost_classes(&clear, &second) == 0);
    for (int i = 0; i < COST_SIZES; i++)
        second.doubt[i] = 1.5F;
    assert_true(cost_classes(&clear, &second) == all);
    clear = line(160, 0, 0, UINT64_MAX);
    assert_true(cost_classes(&clear, &second) == 0); /* between hosts */
    clear.near = true;
    assert_true(cost_classes(&clear, &second) == beyond);
    clear = line(190, 0, 0, UINT64_MAX);
    clear.near = true;
    assert_true(cost_classes(&clear, &second) == 0);
}

static void what_was_not_measured(void **state)
{
    struct cost_curve some = line(1, 1, 0, UINT64_MAX), none = {0};

    (void)state;
    assert_true(cost_classes(&none, &some) == (UINT64_C(1) << COST_CLASSES) - 1);
    assert_true(cost_classes(&none, &none) == (UINT64_C(1) << COST_CLASSES) - 1);
    assert_true(cost_classes(&some, &none) == (UINT64_C(1) << COST_CLASSES) - 1);
    some = line(1, 1, 0, 4096); /* small sizes tell nothing of large ones */
    assert_true(cost_classes(&some, &none) == (UINT64_C(1) << COST_CLASSES) - 1);
    none = line(0.5, 0.5, 0, 4096);
    assert_true(cost_classes(&some, &none) == (UINT64_C(1) << COST_CLASSES) - (1 << 12));
    assert_true(cost_classes(&some, &some) == (UINT64_C(1) << COST_CLASSES) - 1); /* as good */
}

static void the_limit_is_where_curves_meet(void **state)
{
    struct cost_curve small = line(1, 0.002, 0, 8192), first = line(1.5, 0.0001, 0, UINT64_MAX),
                      second = line(1.1, 0, 0, UINT64_MAX);

    (void)state;
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 256);
    assert_int_equal(cost_limit(&small, 0, &first, &second, 0, 8192), 32);
    assert_int_equal(cost_limit(&small, 0, &first, &second, 8192, 8192), 256);
    assert_int_equal(cost_limit(&small, 1, &first, NULL, 0, 8192), 512);
    assert_int_equal(cost_limit(&small, 0, NULL, NULL, 0, 8192), 8192);
    small = line(2, 0, 0, 8192);
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 0);
    small = line(1, 0, 8, 1024); /* not measured beyond that */
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), COST_EAGER);
    small = (struct cost_curve){0};
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), COST_EAGER);
    small = line(2, 0, 0, 8192); /* beyond COST_EAGER as good is not enough */
    first = line(2, 0, 0, UINT64_MAX);
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), COST_EAGER);
    small.at_once = 4096;
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 4096);
    first = line(1.9, 0, 0, UINT64_MAX);
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 0);
    first = line(2.3, 0, 0, UINT64_MAX);
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 8192);
    first = (struct cost_curve){0}; /* nor is nothing to compare with */
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), COST_EAGER);
    small = line(90, 0, 0, 8192);
    first = line(2.3, 0, 0, UINT64_MAX);
    for (int i = 0; i < COST_SIZES; i++)
        small.doubt[i] = 1.5F;
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), COST_EAGER);
}

/* A size at which messages lose a little does not keep those above it from them; a little better at
 * one size is no reason to lose much below it. */
static void limits_over_a_dip(void **state)
{
    struct cost_curve small = line(2, 0, 0, 8192), first = line(4, 0, 0, UINT64_MAX);

    (void)state;
    small.at_once = 8192;
    first.us[2] = 1.8; /* 2 KiB */
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 8192);
    first.us[2] = 1;
    first.us[3] = first.us[4] = 2.1;
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 1024);
}

/* Of messages only the largest was measured, other programs had the processor: what it loses there
 * says nothing of smaller ones. Where times are rough it may lose more. */
static void limits_by_few_measurements(void **state)
{
    struct cost_curve small = line(2.13, 0, 8192, 8192), first = line(2.29, 0, 8192, UINT64_MAX);

    (void)state;
    small.at_once = 8192;
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 8192);
    small = line(3, 0, 8192, 8192);
    small.at_once = 8192;
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 4096);
    small.us[4] = 1.2 * first.us[4];
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 8192);
    small.us[4] = 1.4 * first.us[4];
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 4096);
    small.doubt[4] = 2;
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 8192);
    small.us[4] = 20 * first.us[4];
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 4096);
    small.doubt[4] = HUGE_VALF; /* by hardly any samples */
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), 8192);
    small.at_once = 0; /* between hosts that holds for what leaves at once with any MPI */
    assert_int_equal(cost_limit(&small, 0, &first, NULL, 0, 8192), COST_EAGER);
}

/* A start with noise: one sample in ten takes ten times as long, and all have a tenth more or less.
 * The choice is wrong by no more than 5 % nearly always. */
static void noisy_starts_choose_well(void **state)
{
    int wrong = 0;

    (void)state;
    srand(9);
    for (int start = 0; start < 1000; start++) {
        const double true_us[] = {10, 10.0 + (start % 100) / 5.0};
        struct cost_samples samples[2] = {0};

        for (int i = 0; i < COST_SAMPLES && !cost_is_clear(&samples[0], &samples[1]); i++)
            for (int way = 0; way < 2; way++) {
                double us = true_us[way] * (1 + rand() % 100 / 1000.0);

                cost_sample(&samples[way], rand() % 10 ? us : 10 * us);
            }
        if (cost_of(&samples[1]) < cost_of(&samples[0]) && true_us[1] > 1.05 * true_us[0])
            wrong++;
    }
    assert_true(wrong <= 5);
}

static void every_size_has_a_class(void **state)
{
    (void)state;
    assert_int_equal(cost_class(0), 0);
    assert_int_equal(cost_class(2), 0);
    assert_int_equal(cost_class(3), 1);
    assert_int_equal(cost_class(4096), 11);
    assert_int_equal(cost_class(4097), 12);
    for (unsigned class = 0; class < COST_CLASSES; class ++)
        assert_int_equal(cost_class(cost_class_bytes(class)), class);
    assert_int_equal(cost_class(UINT64_MAX), COST_CLASSES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_disturbed_sample_changes_nothing),
        cmocka_unit_test(few_samples_and_too_many),
        cmocka_unit_test(close_ways_want_more_samples),
        cmocka_unit_test(curves_hold_between_and_beyond_sizes),
        cmocka_unit_test(crossing_curves_change_places_once),
        cmocka_unit_test(what_is_close_stays_with_the_first_way),
        cmocka_unit_test(what_was_not_measured),
        cmocka_unit_test(the_limit_is_where_curves_meet),
        cmocka_unit_test(limits_over_a_dip),
        cmocka_unit_test(limits_by_few_measurements),
        cmocka_unit_test(noisy_starts_choose_well),
        cmocka_unit_test(every_size_has_a_class),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
