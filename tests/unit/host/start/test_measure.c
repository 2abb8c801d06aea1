/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_measure.c: what is chosen from measured times, with tables made up for it; and ways that
 * deliver wrong data, which start-up refuses.
 * Covers: measure.c trial.c measure_exchange.c */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"
#include "host/start/measure.h"

static struct cost line(double us, double us_per_kib)
{
    return (struct cost){.us = us, .us_per_kib = us_per_kib};
}

/* As the measurement leaves it. */
static struct paths measured(struct cost inlined, struct cost rma, struct cost two_sided)
{
    struct paths paths = {0};

    for (int direction = 0; direction < PATHS_DIRECTIONS; direction++) {
        paths.cost[direction][PATH_INLINE] = inlined;
        paths.cost[direction][PATH_RMA] = rma;
        paths.cost[direction][PATH_TWO_SIDED] = two_sided;
    }
    return paths;
}

static enum path bulk(const struct paths *paths, bool submit, uint64_t bytes)
{
    return paths_one_sided(paths, submit, bytes) ? PATH_RMA : PATH_TWO_SIDED;
}

#define GIB (UINT64_C(1) << 30)

TEST(a_fast_window_is_used_for_all_but_the_smallest)
{
    struct paths paths = measured(line(1, 2.048), line(1.5, 0.1024), line(5, 0.2048));

    measure_choose(&paths, true, DATA_AUTO);
    assert_int_equal(bulk(&paths, true, 16384), PATH_RMA);
    assert_int_equal(bulk(&paths, true, 5 * GIB), PATH_RMA);
    assert_int_equal(bulk(&paths, false, 100), PATH_RMA);
    assert_int_equal(bulk(&paths, false, 5 * GIB), PATH_RMA);
    assert_in_range(paths.inline_retrieve, 128, 256); /* where 1 + 0.002 n meets 1.5 */
    assert_true(paths.inline_retrieve_fused >= paths.inline_retrieve);
}

TEST(a_slow_window_is_left_alone)
{
    struct paths paths = measured(line(1, 2.048), line(300, 2.048), line(8, 0.3072));

    measure_choose(&paths, true, DATA_AUTO);
    assert_int_equal(bulk(&paths, true, OMPRMA_COPIED_SUBMIT + 1), PATH_TWO_SIDED);
    assert_int_equal(bulk(&paths, true, 5 * GIB), PATH_TWO_SIDED);
    assert_int_equal(bulk(&paths, false, 20000), PATH_TWO_SIDED);
    assert_int_equal(bulk(&paths, false, 5 * GIB), PATH_TWO_SIDED);
    assert_int_equal(paths.inline_submit, 8192); /* a send of so little cannot be reused at once */
}

/* There every two-sided submit asks first. A message of 32 KiB takes 9 us, and 18 the other way. */
TEST(between_hosts_messages_carry_more_where_nothing_is_one_sided)
{
    struct paths paths = measured(line(5, 0.125), line(9, 0.125), line(14, 0.125));

    measure_choose(&paths, false, DATA_TWO_SIDED);
    assert_int_equal(paths.inline_submit, 32768);
    assert_int_equal(paths.inline_retrieve, 32768);
    assert_int_equal(bulk(&paths, true, 32769), PATH_TWO_SIDED);
    paths.near = true;
    measure_choose(&paths, false, DATA_TWO_SIDED);
    assert_int_equal(paths.inline_submit, 8192);
    paths.near = false;
    measure_choose(&paths, true, DATA_AUTO);
    assert_int_equal(paths.inline_submit, 8192);
    paths = measured(line(5, 0.5), line(9, 0.125), line(14, 0.125)); /* they meet at 20 KiB */
    measure_choose(&paths, false, DATA_TWO_SIDED);
    assert_int_equal(paths.inline_submit, 16384);
}

TEST(a_library_that_is_not_trusted_goes_two_sided)
{
    struct paths paths = measured(line(1, 2.048), line(1.5, 0.1024), line(5, 0.2048));

    paths.two_sided_only = true;
    measure_choose(&paths, true, DATA_AUTO);
    assert_int_equal(bulk(&paths, true, 5 * GIB), PATH_TWO_SIDED);
    assert_int_equal(bulk(&paths, false, 5 * GIB), PATH_TWO_SIDED);
    measure_choose(&paths, true, DATA_RMA);
    assert_int_equal(bulk(&paths, true, 5 * GIB), PATH_RMA);
}

TEST(each_way_where_it_is_better)
{
    struct paths paths = measured(line(1, 2), line(18, 0.1), line(8, 0.3));

    measure_choose(&paths, true, DATA_AUTO); /* they meet at 50 KiB */
    for (int submit = 0; submit < 2; submit++) {
        assert_int_equal(bulk(&paths, submit, 32768), PATH_TWO_SIDED);
        assert_int_equal(bulk(&paths, submit, 65536), PATH_RMA);
        assert_int_equal(bulk(&paths, submit, GIB), PATH_RMA);
    }
    paths = measured(line(1, 2), line(2, 0.5), line(30, 0.1));
    measure_choose(&paths, true, DATA_AUTO); /* they meet at 70 KiB: large data decides */
    assert_int_equal(bulk(&paths, false, 16384), PATH_TWO_SIDED);
    assert_int_equal(bulk(&paths, false, GIB), PATH_TWO_SIDED);
}

TEST(force_is_obeyed)
{
    struct paths paths = measured(line(1, 2.048), line(300, 2.048), line(8, 0.3072));

    measure_choose(&paths, true, DATA_RMA);
    assert_int_equal(paths.inline_submit, 0);
    assert_int_equal(paths.inline_retrieve, 0);
    for (uint64_t bytes = 1; bytes < 8 * GIB; bytes *= 3) {
        assert_int_equal(bulk(&paths, true, bytes), PATH_RMA);
        assert_int_equal(bulk(&paths, false, bytes), PATH_RMA);
    }
    paths = measured(line(1, 2.048), line(1.5, 0.1024), line(5, 0.2048));
    measure_choose(&paths, true, DATA_TWO_SIDED);
    for (uint64_t bytes = 1; bytes < 8 * GIB; bytes *= 3) {
        assert_int_equal(bulk(&paths, true, bytes), PATH_TWO_SIDED);
        assert_int_equal(bulk(&paths, false, bytes), PATH_TWO_SIDED);
    }
}

/* Between devices: the least time wins, but a put must be clearly beaten; and only what is allowed.
 */
TEST(the_best_way_between_devices)
{
    struct exchange_paths paths = {
        .us = {[EXCHANGE_PUT] = 100, [EXCHANGE_GET] = 95, [EXCHANGE_SEND] = 97}};

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
TEST(no_window_no_one_sided)
{
    srand(1);
    for (int i = 0; i < 2000; i++) {
        struct paths paths = {0};

        for (int k = 0; k < PATHS_DIRECTIONS * PATH_COUNT; k++)
            paths.cost[k % PATHS_DIRECTIONS][k / PATHS_DIRECTIONS] =
                (struct cost){.us = rand() % 1000 / 10.0, .us_per_kib = rand() % 1000 / 100.0};
        paths.near = rand() % 2;
        paths.at_once = rand() % 2 ? 8192 : 0;
        measure_choose(&paths, i % 2, i % 3 ? DATA_AUTO : DATA_TWO_SIDED);
        assert_in_range(paths.inline_submit, 0, 32768);
        assert_in_range(paths.inline_retrieve, 0, 32768);
        assert_in_range(paths.inline_retrieve_fused, 0, 32768);
        if (i % 2 && i % 3)
            continue;
        for (uint64_t bytes = 1; bytes < 8 * GIB; bytes = bytes * 2 + bytes / 3) {
            assert_int_equal(bulk(&paths, true, bytes), PATH_TWO_SIDED);
            assert_int_equal(bulk(&paths, false, bytes), PATH_TWO_SIDED);
        }
    }
}

/* ---- ways that deliver wrong data ---- */

enum { BYTES = 200000 };

static unsigned char sent[BYTES], back[BYTES];

/* What goes there, from there to the next device, and comes back is right. */
static void assert_right(void)
{
    omprma_queue_t *first = core_queue(0), *second = core_queue(1);
    omprma_addr_t from = core_alloc(0, BYTES), to = core_alloc(1, BYTES);
    struct draw seed = {20251125};

    draw_fill(&seed, sent, BYTES);
    assert_ok(omprma_submit(first, from, sent, BYTES));
    assert_ok(omprma_exchange(first, from, 1, to, BYTES));
    assert_ok(omprma_queue_synchronize(first));
    assert_ok(omprma_retrieve(second, back, to, BYTES));
    assert_ok(omprma_queue_synchronize(second));
    assert_memory_equal(sent, back, BYTES);
    assert_ok(omprma_queue_destroy(first));
    assert_ok(omprma_queue_destroy(second));
}

/* Wrong from some size on, or up to one, in one direction, or between workers only. */
TEST(a_wrong_one_sided_way_is_refused)
{
    static const struct {
        uint64_t least, most;
    } sizes[] = {{1, 0}, {8192, 0}, {65536, 0}, {1, 4096}};

    for (size_t i = 0; i < 4 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint64_t size = sizes[i / 4].least;
        struct core_options options = {
            .workers = 2,
            .delay = CORE_NO_DELAY,
            .wrong_puts = i % 4 == 0 ? size : 0,
            .wrong_gets = i % 4 == 1 ? size : 0,
            .workers_wrong_puts = i % 4 == 2 ? size : 0,
            .workers_wrong_gets = i % 4 == 3 ? size : 0,
            .wrong_most = sizes[i / 4].most,
            .adapt = true,
        };

        core_start(&options);
        if (runtime_get()->one_sided)
            fail_msg("case %zu: it is used", i);
        for (int number = 0; number < 2; number++) {
            assert_true(core_device(number)->paths.rma_from[PATHS_RETRIEVE] == COST_NEVER);
            assert_null(core_device(number)->paths.adapt);
        }
        assert_null(runtime_get()->kinds);
        assert_int_equal(runtime_get()->exchange[0].way, EXCHANGE_SEND);
        assert_int_equal(runtime_get()->exchange[1].way, EXCHANGE_SEND);
        assert_right();
        core_stop();
    }
}

/* Also where a host seems to be as far away as another one, whose times it takes over. */
TEST(a_way_to_another_host_that_is_wrong_is_refused)
{
    for (int peer = 1; peer <= 3; peer++)
        for (int in = 0; in < 2; in++) {
            core_start(&(struct core_options){.workers = 3,
                                              .delay = CORE_NO_DELAY,
                                              .apart = true,
                                              .wrong_peer = peer,
                                              .wrong_puts = in ? 0 : 8192,
                                              .wrong_gets = in ? 8192 : 0});
            if (runtime_get()->one_sided)
                fail_msg("host %d: it is used", peer);
            assert_right();
            core_stop();
        }
}

CORE_TEST(a_right_one_is_kept, 2, .delay = CORE_NO_DELAY)
{
    assert_non_null(runtime_get()->one_sided);
    assert_right();
}

static void assert_ends(const struct core_options *options, const char *words)
{
    if (core_try(options) == OMPRMA_OK)
        fail_msg("it starts, instead of \"%s\"", words);
    if (!strstr(omprma_error(), words))
        fail_msg("\"%s\" instead of \"%s\"", omprma_error(), words);
    assert_null(runtime_get());
    core_stop();
}

/* There is nothing else to be taken. */
TEST(what_was_asked_for_and_is_wrong_ends_the_run)
{
    assert_ends(&(struct core_options){.data = DATA_RMA, .wrong_puts = 65536}, "--data rma: ");
    assert_ends(&(struct core_options){.data = DATA_RMA, .wrong_gets = 65536}, "--data rma: ");
    assert_ends(&(struct core_options){.data = DATA_RMA, .workers = 2, .workers_wrong_puts = 1},
                "--data rma: ");
    assert_ends(
        &(struct core_options){.exchange = EXCHANGE_PUT, .workers = 2, .workers_wrong_puts = 65536},
        "OMPRMA_EXCHANGE=put: ");
    assert_ends(
        &(struct core_options){.exchange = EXCHANGE_GET, .workers = 2, .workers_wrong_gets = 65536},
        "OMPRMA_EXCHANGE=get: ");
    assert_ends(&(struct core_options){.wrong_sends = 65536}, "MPI's messages");
    assert_ends(&(struct core_options){.wrong_sends = 65536, .wrong_puts = 65536},
                "MPI's messages");
    assert_ends(&(struct core_options){.no_window = true, .wrong_sends = 1}, "MPI's messages");
    assert_ends(&(struct core_options){.data = DATA_RMA, .wrong_sends = 1}, "MPI's messages");
}

/* Nobody takes what is wrong there. */
CORE_TEST(what_nobody_takes_is_no_fault, 2, .exchange = EXCHANGE_GET, .workers_wrong_puts = 65536)
{
    assert_non_null(runtime_get()->one_sided);
}
