/* test_measure.c: what is chosen from measured times, with tables made up for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "host/measure.h"

/* A way costs so much per operation and so much per byte. */
struct cost {
    double us, us_per_byte;
};

static void fill(struct cost_curve *curve, struct cost cost, uint64_t least, uint64_t most)
{
    for (int i = 0; i < COST_SIZES; i++)
        curve->us[i] = cost_sizes[i] > least && cost_sizes[i] <= most
                           ? cost.us + cost.us_per_byte * (double)cost_sizes[i]
                           : 0;
}

/* As the measurement leaves it: messages up to 8 KiB, sends above what is copied. */
static struct paths measured(struct cost inlined, struct cost rma, struct cost two_sided)
{
    struct paths paths = {0};

    fill(&paths.curve[PATHS_SUBMIT][PATH_INLINE], inlined, 0, 8192);
    fill(&paths.curve[PATHS_RETRIEVE][PATH_INLINE], inlined, 0, 8192);
    fill(&paths.curve[PATHS_SUBMIT][PATH_RMA], rma, 0, UINT64_MAX);
    fill(&paths.curve[PATHS_RETRIEVE][PATH_RMA], rma, 0, UINT64_MAX);
    fill(&paths.curve[PATHS_SUBMIT][PATH_TWO_SIDED], two_sided, OMPRMA_COPIED_SUBMIT, UINT64_MAX);
    fill(&paths.curve[PATHS_RETRIEVE][PATH_TWO_SIDED], two_sided, 0, UINT64_MAX);
    return paths;
}

static enum path bulk(const struct paths *paths, bool submit, uint64_t bytes)
{
    return paths_bulk(paths, submit, bytes);
}

#define GIB (UINT64_C(1) << 30)

static void a_fast_window_is_used_for_all_but_the_smallest(void **state)
{
    struct paths paths =
        measured((struct cost){1, 0.002}, (struct cost){1.5, 0.0001}, (struct cost){5, 0.0002});

    (void)state;
    measure_choose(&paths, true, DATA_AUTO);
    assert_int_equal(bulk(&paths, true, 16384), PATH_RMA);
    assert_int_equal(bulk(&paths, true, 5 * GIB), PATH_RMA);
    assert_int_equal(bulk(&paths, false, 100), PATH_RMA);
    assert_int_equal(bulk(&paths, false, 5 * GIB), PATH_RMA);
    assert_in_range(paths.inline_retrieve, 128, 256); /* where 1 + 0.002 n meets 1.5 */
    assert_true(paths.inline_retrieve_fused >= paths.inline_retrieve);
}

static void a_slow_window_is_left_alone(void **state)
{
    struct paths paths =
        measured((struct cost){1, 0.002}, (struct cost){300, 0.002}, (struct cost){8, 0.0003});

    (void)state;
    measure_choose(&paths, true, DATA_AUTO);
    assert_int_equal(bulk(&paths, true, OMPRMA_COPIED_SUBMIT + 1), PATH_TWO_SIDED);
    assert_int_equal(bulk(&paths, true, 5 * GIB), PATH_TWO_SIDED);
    assert_int_equal(bulk(&paths, false, 20000), PATH_TWO_SIDED);
    assert_int_equal(bulk(&paths, false, 5 * GIB), PATH_TWO_SIDED);
    assert_int_equal(paths.inline_submit, 8192); /* a send of so little cannot be reused at once */
}

static void each_way_where_it_is_better(void **state)
{
    struct paths paths =
        measured((struct cost){1, 0.002}, (struct cost){40, 0.0001}, (struct cost){8, 0.0003});

    (void)state;
    measure_choose(&paths, true, DATA_AUTO); /* they meet at 160 KB */
    assert_int_equal(bulk(&paths, false, 65536), PATH_TWO_SIDED);
    assert_int_equal(bulk(&paths, false, 1 << 20), PATH_RMA);
    assert_int_equal(bulk(&paths, false, GIB), PATH_RMA);
    assert_int_equal(bulk(&paths, true, 65536), PATH_TWO_SIDED);
    assert_int_equal(bulk(&paths, true, GIB), PATH_RMA);
    paths = measured((struct cost){1, 0.002}, (struct cost){2, 0.0005}, (struct cost){30, 0.0001});
    measure_choose(&paths, true, DATA_AUTO); /* they meet at 70 KB */
    assert_int_equal(bulk(&paths, false, 16384), PATH_RMA);
    assert_int_equal(bulk(&paths, false, 1 << 20), PATH_TWO_SIDED);
    assert_int_equal(bulk(&paths, false, GIB), PATH_TWO_SIDED);
}

static void force_is_obeyed(void **state)
{
    struct paths paths =
        measured((struct cost){1, 0.002}, (struct cost){300, 0.002}, (struct cost){8, 0.0003});

    (void)state;
    measure_choose(&paths, true, DATA_RMA);
    assert_int_equal(paths.inline_submit, 0);
    assert_int_equal(paths.inline_retrieve, 0);
    for (uint64_t bytes = 1; bytes < 8 * GIB; bytes *= 3) {
        assert_int_equal(bulk(&paths, true, bytes), PATH_RMA);
        assert_int_equal(bulk(&paths, false, bytes), PATH_RMA);
    }
    paths = measured((struct cost){1, 0.002}, (struct cost){1.5, 0.0001}, (struct cost){5, 0.0002});
    measure_choose(&paths, true, DATA_TWO_SIDED);
    for (uint64_t bytes = 1; bytes < 8 * GIB; bytes *= 3) {
        assert_int_equal(bulk(&paths, true, bytes), PATH_TWO_SIDED);
        assert_int_equal(bulk(&paths, false, bytes), PATH_TWO_SIDED);
    }
}

/* Between devices: the least time wins, but a put must be clearly beaten; and only what is allowed.
 */
static void the_best_way_between_devices(void **state)
{
    struct exchange_paths paths = {
        .us = {[EXCHANGE_PUT] = 100, [EXCHANGE_GET] = 95, [EXCHANGE_SEND] = 97}};

    (void)state;
    measure_choose_exchange(&paths, true, DATA_AUTO);
    assert_int_equal(paths.way, EXCHANGE_PUT);
    assert_true(paths.small_put);
    paths.us[EXCHANGE_SEND] = 60;
    measure_choose_exchange(&paths, true, DATA_AUTO);
    assert_int_equal(paths.way, EXCHANGE_SEND);
    measure_choose_exchange(&paths, true, DATA_RMA);
    assert_int_equal(paths.way, EXCHANGE_PUT);
    paths.us[EXCHANGE_GET] = 50;
    measure_choose_exchange(&paths, true, DATA_AUTO);
    assert_int_equal(paths.way, EXCHANGE_GET);
    measure_choose_exchange(&paths, true, DATA_RMA);
    assert_int_equal(paths.way, EXCHANGE_GET);
    assert_true(paths.small_put);
    measure_choose_exchange(&paths, true, DATA_TWO_SIDED);
    assert_int_equal(paths.way, EXCHANGE_SEND);
    assert_false(paths.small_put);
    for (enum config_data data = DATA_AUTO; data <= DATA_TWO_SIDED; data++) {
        measure_choose_exchange(&paths, false, data);
        assert_int_equal(paths.way, EXCHANGE_SEND);
        assert_false(paths.small_put);
    }
    paths = (struct exchange_paths){0}; /* there was no pair to measure */
    measure_choose_exchange(&paths, true, DATA_AUTO);
    assert_int_equal(paths.way, EXCHANGE_PUT);
}

/* Whatever was measured, without a window nothing goes one-sided, and limits stay in bounds. */
static void no_window_no_one_sided(void **state)
{
    (void)state;
    srand(1);
    for (int i = 0; i < 2000; i++) {
        struct paths paths = {0};

        for (int k = 0; k < PATHS_DIRECTIONS * PATH_COUNT * COST_SIZES; k++)
            paths.curve[k % PATHS_DIRECTIONS][k / PATHS_DIRECTIONS % PATH_COUNT]
                .us[k / PATHS_DIRECTIONS / PATH_COUNT] = rand() % 1000 / 10.0;
        measure_choose(&paths, i % 2, i % 3 ? DATA_AUTO : DATA_TWO_SIDED);
        assert_in_range(paths.inline_submit, 0, 16384);
        assert_in_range(paths.inline_retrieve, 0, 16384);
        assert_in_range(paths.inline_retrieve_fused, 0, 16384);
        if (i % 2 && i % 3)
            continue;
        for (uint64_t bytes = 1; bytes < 8 * GIB; bytes = bytes * 2 + bytes / 3) {
            assert_int_equal(bulk(&paths, true, bytes), PATH_TWO_SIDED);
            assert_int_equal(bulk(&paths, false, bytes), PATH_TWO_SIDED);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fast_window_is_used_for_all_but_the_smallest),
        cmocka_unit_test(a_slow_window_is_left_alone),
        cmocka_unit_test(each_way_where_it_is_better),
        cmocka_unit_test(force_is_obeyed),
        cmocka_unit_test(the_best_way_between_devices),
        cmocka_unit_test(no_window_no_one_sided),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
