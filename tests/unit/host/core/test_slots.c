/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_slots.c: slots are handed out in turns, and what is spoilt is nobody's; a pool whose slots
 * are all spoilt goes on with other memory. How exchanges use them: test_exchange.c,
 * test_staging.c.
 * Covers: slots.c */
#include "tests/unit/test.h"
#include "host/core/slots.h"

enum { OLD = SLOT_BYTES, NEW = 100 * SLOT_BYTES, SLOTS = 2 };

static int grants;

static void granted(struct slot_turn *turn)
{
    (void)turn;
    grants++;
}

static void begin(struct slot_pool *pool, struct slot_turn *turn, int turns)
{
    grants = 0;
    slots_open(pool, OLD, SLOTS * SLOT_BYTES, SLOT_BYTES);
    for (int i = 0; i < turns; i++)
        turn[i] = (struct slot_turn){.pool = {pool}, .pools = 1, .granted = granted};
}

TEST(turns_in_their_order)
{
    struct slot_turns turns = {0};
    struct slot_pool pool;
    struct slot_turn turn[4];

    begin(&pool, turn, 4);
    assert_true(slots_take(&turns, &turn[0]));
    assert_true(slots_take(&turns, &turn[1]));
    assert_false(slots_take(&turns, &turn[2]));
    assert_false(slots_take(&turns, &turn[3]));
    slots_give(&turns, &pool, turn[1].slot[0], false);
    assert_int_equal(grants, 1);
    assert_false(slots_take(&turns, &turn[3]));
    assert_true(slots_take(&turns, &turn[2]));
    assert_int_equal(turn[2].slot[0], turn[1].slot[0]);
    slots_leave(&turns, &turn[3]);
    slots_give(&turns, &pool, turn[0].slot[0], false);
    slots_give(&turns, &pool, turn[2].slot[0], false);
    assert_int_equal(grants, 1);
    assert_int_equal(slots_used(&pool), 0);
}

TEST(others_go_on_with_new_memory)
{
    struct slot_turns turns = {0};
    struct slot_pool pool;
    struct slot_turn turn[3];

    begin(&pool, turn, 3);
    assert_true(slots_take(&turns, &turn[0]));
    assert_true(slots_take(&turns, &turn[1]));
    assert_false(slots_take(&turns, &turn[2]));
    slots_give(&turns, &pool, turn[0].slot[0], true);
    assert_true(slots_exist(&turn[2]));
    assert_int_equal(grants, 0);
    slots_give(&turns, &pool, turn[1].slot[0], true);
    assert_false(slots_exist(&turn[2])); /* and it is told so */
    assert_int_equal(grants, 1);
    slots_renew(&turns, &pool, NEW, SLOTS * SLOT_BYTES);
    assert_int_equal(grants, 2);
    assert_true(slots_exist(&turn[2]));
    assert_true(slots_take(&turns, &turn[2]));
    assert_in_range(turn[2].slot[0], NEW, NEW + SLOTS * SLOT_BYTES - 1);
    slots_give(&turns, &pool, turn[2].slot[0], false);
    assert_int_equal(slots_used(&pool), 0);
}

/* The one that was given back last comes last. */
TEST(late_again)
{
    struct slot_turns turns = {0};
    struct slot_pool pool;
    struct slot_turn turn = {.pool = {&pool}, .pools = 1, .granted = granted};

    slots_open(&pool, OLD, 3 * 4096, 4096);
    for (uint64_t i = 0; i < 7; i++) {
        assert_true(slots_take(&turns, &turn));
        assert_int_equal(turn.slot[0], OLD + i % 3 * 4096);
        slots_give(&turns, &pool, turn.slot[0], false);
    }
    assert_int_equal(slots_used(&pool), 0);
}
