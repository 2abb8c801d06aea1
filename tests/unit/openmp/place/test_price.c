/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_price.c: when a region leaves the site that has what it writes.
 * Covers: price.c
 */
#include "openmp/place/price.h"
#include "tests/unit/test.h"

enum { US = 1000, MS = 1000 * US, BRING = 50 * US };

/* Behind so many regions of 1 ms, beside a site with others, or with none for so long. */
static bool leaves(int64_t waits_ms, bool busy, int64_t other_ns)
{
    const struct offer home = {.has = true, .wait_ns = waits_ms * MS};
    const struct offer other = {
        .wait_ns = busy ? other_ns : 0, .idle_ns = busy ? 0 : other_ns, .bring_ns = BRING};
    return offer_price(&other, MS, 0) < offer_price(&home, MS, 0);
}

/* Chains of one site each: one that is a region ahead does not draw those of another one. */
TEST(test_small_differences_draw_nothing)
{
    assert_false(leaves(3, true, 2 * MS));
    assert_false(leaves(3, true, 3 * MS));
    assert_false(leaves(2, true, 0));
    assert_true(leaves(5, true, 2 * MS));
}

TEST(test_who_stays_free_draws_regions)
{
    assert_false(leaves(1, false, 0));
    assert_false(leaves(1, false, MS));
    assert_true(leaves(1, false, 2 * MS));
    assert_true(leaves(1, false, 1000 * MS));
    assert_true(leaves(3, false, 0));
    assert_false(leaves(0, false, 1000 * MS));
}

/* That its last region is over makes no difference for itself. */
TEST(test_who_has_just_become_free_draws_no_more_than_before)
{
    for (int waits = 1; waits < 6; waits++)
        assert_int_equal(leaves(waits, false, 0), leaves(waits, true, 0));
}

/* Nothing is written, or all is made anew: then only times count. */
TEST(test_readers_go_where_they_are_done_first)
{
    struct offer first = {.has = true, .wait_ns = 100 * US};
    struct offer second = {.has = true, .bring_ns = BRING};
    assert_true(offer_price(&second, MS, 0) < offer_price(&first, MS, 0));
    second.bring_ns = 200 * US;
    assert_true(offer_price(&second, MS, 0) > offer_price(&first, MS, 0));
}

/* Nobody can begin before what is used has been written. */
TEST(test_what_is_being_written_is_waited_for_everywhere)
{
    struct offer first = {.has = true, .wait_ns = 5 * MS};
    struct offer second = {.has = true, .bring_ns = BRING};
    assert_true(offer_price(&second, MS, 4 * MS) < offer_price(&first, MS, 4 * MS));
    assert_true(offer_price(&second, MS, 5 * MS) > offer_price(&first, MS, 5 * MS));
}
