/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_versus.c: a way is the faster one where it was in each part of the turns.
 * Covers: tools/perf/versus.c results.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include "tests/unit/cmocka_both.h"
#include <stdlib.h>

#include "tools/perf/versus.h"

enum { SAMPLES = 40 };

/* Samples that take `us`, but for one part of them, which takes `us_in_part`. */
static void add(struct results *results, enum perf_path path, double us, int part,
                double us_in_part)
{
    struct result result = {.op = OP_SUBMIT, .path = path, .bytes = 8, .workers = 1};
    double samples[SAMPLES];

    for (int i = 0; i < SAMPLES; i++)
        samples[i] = i * RESULT_PARTS / SAMPLES == part ? us_in_part : us;
    results_add(results, &result, samples, SAMPLES);
    assert_float_equal(results->items[results->count - 1].us_median, us, 1e-9);
}

static enum versus_winner winner(double one, double one_in_part, double two, double two_in_part)
{
    struct results results = {0};
    struct versus_row row;
    size_t next = 0;

    add(&results, WAY_RMA, one, 1, one_in_part);
    add(&results, WAY_TWO_SIDED, two, 1, two_in_part);
    assert_true(versus_next(&results, &next, &row));
    free(results.items);
    return versus_winner(&row);
}

static void names_who_always_won(void **state)
{
    (void)state;
    assert_int_equal(winner(1, 1, 2, 2), ONE_SIDED_WINS);
    assert_int_equal(winner(2, 2, 1, 1), TWO_SIDED_WINS);
    assert_int_equal(winner(1, 1, 1.05, 1.05), ALIKE);
    assert_int_equal(winner(1, 9, 2, 18), ONE_SIDED_WINS); /* disturbed alike */
}

static void names_nobody_in_noise(void **state)
{
    (void)state;
    assert_int_equal(winner(1, 3, 2, 2), NOISE);
    assert_int_equal(winner(2, 2, 1, 3), NOISE);
    assert_int_equal(winner(1, 3, 1.05, 1.05), ALIKE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_who_always_won),
        cmocka_unit_test(names_nobody_in_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
