/* test_writes.c: no range is overlooked, however many there are, none is kept for ever, and what
 * was not sent is never taken for something else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "host/writes.h"

static void add(struct writes *writes, omprma_addr_t begin, omprma_addr_t end, uint64_t op,
                uint64_t done, uint64_t sent)
{
    assert_true(writes_reserve(writes, done, sent));
    writes_add(writes, begin, end, op);
}

static void ranges_are_met_by_their_bytes(void **state)
{
    struct writes writes = {0};

    (void)state;
    add(&writes, 100, 200, 5, 0, 0);
    assert_true(writes_meet(&writes, 100, 101, 0, 5));
    assert_true(writes_meet(&writes, 199, 300, 0, 5));
    assert_true(writes_meet(&writes, 0, 1000, 0, 5));
    assert_false(writes_meet(&writes, 200, 300, 0, 5));
    assert_false(writes_meet(&writes, 0, 100, 0, 5));
    writes_free(&writes);
}

static void operations_bound_what_counts(void **state)
{
    struct writes writes = {0};

    (void)state;
    add(&writes, 100, 200, 5, 0, 0);
    assert_true(writes_meet(&writes, 100, 200, 4, 5));
    assert_false(writes_meet(&writes, 100, 200, 5, 9)); /* executed */
    assert_false(writes_meet(&writes, 100, 200, 0, 4)); /* not sent */
    writes_prune(&writes, 4);
    assert_int_equal(writes.count, 1);
    writes_prune(&writes, 5);
    assert_int_equal(writes.count, 0);
    writes_free(&writes);
}

/* The ranges between them belong to nobody: a transfer there must not wait for what comes after
 * it. */
static void unsent_ranges_stay_exact(void **state)
{
    enum { MANY = 20 * WRITES_KEPT };
    struct writes writes = {0};

    (void)state;
    for (uint32_t i = 1; i <= MANY; i++)
        add(&writes, 1000 * i, 1000 * i + 10, i, 0, 0);
    for (uint32_t i = 1; i <= MANY; i++) {
        assert_true(writes_meet(&writes, 1000 * i, 1000 * i + 10, 0, MANY));
        assert_false(writes_meet(&writes, 1000 * i + 10, 1000 * i + 1000, 0, MANY));
    }
    writes_free(&writes);
}

static void many_sent_ranges_are_merged(void **state)
{
    enum { MANY = 1000 * WRITES_KEPT };
    struct writes writes = {0};

    (void)state;
    for (uint32_t i = 1; i <= MANY; i++)
        add(&writes, 1000 * i, 1000 * i + 10, i, 0, i - 1);
    assert_true(writes.capacity <= 2 * WRITES_KEPT);
    for (uint32_t i = 1; i <= MANY; i++)
        assert_true(writes_meet(&writes, 1000 * i, 1000 * i + 10, 0, MANY));
    writes_prune(&writes, MANY - 1);
    assert_true(writes_meet(&writes, 1000 * MANY, 1000 * MANY + 10, 0, MANY));
    writes_prune(&writes, MANY);
    assert_int_equal(writes.count, 0);
    writes_free(&writes);
}

static void what_is_executed_takes_no_room(void **state)
{
    struct writes writes = {0};

    (void)state;
    for (uint32_t i = 1; i <= 100 * WRITES_KEPT; i++)
        add(&writes, 1000 * i, 1000 * i + 10, i, i - 1, i - 1);
    assert_true(writes.capacity <= WRITES_KEPT);
    writes_free(&writes);
}

static void what_was_not_sent_is_forgotten(void **state)
{
    struct writes writes = {0};

    (void)state;
    for (uint32_t i = 1; i <= 3 * WRITES_KEPT; i++)
        add(&writes, 1000 * i, 1000 * i + 10, i, 0, WRITES_KEPT);
    writes_forget(&writes, WRITES_KEPT);
    assert_true(writes_meet(&writes, 1000 * WRITES_KEPT, 1000 * WRITES_KEPT + 1, 0, UINT64_MAX));
    assert_false(writes_meet(&writes, 1000 * (WRITES_KEPT + 1), UINT64_MAX, 0, UINT64_MAX));
    writes_forget(&writes, 0);
    assert_int_equal(writes.count, 0);
    writes_free(&writes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_met_by_their_bytes),
        cmocka_unit_test(operations_bound_what_counts),
        cmocka_unit_test(unsent_ranges_stay_exact),
        cmocka_unit_test(many_sent_ranges_are_merged),
        cmocka_unit_test(what_is_executed_takes_no_room),
        cmocka_unit_test(what_was_not_sent_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
