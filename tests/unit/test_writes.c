/* test_writes.c: no range is overlooked, however many there are, and none is kept for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "host/writes.h"

static void ranges_are_met_by_their_bytes(void **state)
{
    struct writes writes = {0};

    (void)state;
    writes_add(&writes, 100, 200, 5, 0);
    assert_true(writes_meet(&writes, 100, 101, 0, 5));
    assert_true(writes_meet(&writes, 199, 300, 0, 5));
    assert_true(writes_meet(&writes, 0, 1000, 0, 5));
    assert_false(writes_meet(&writes, 200, 300, 0, 5));
    assert_false(writes_meet(&writes, 0, 100, 0, 5));
}

static void operations_bound_what_counts(void **state)
{
    struct writes writes = {0};

    (void)state;
    writes_add(&writes, 100, 200, 5, 0);
    assert_true(writes_meet(&writes, 100, 200, 4, 5));
    assert_false(writes_meet(&writes, 100, 200, 5, 9)); /* executed */
    assert_false(writes_meet(&writes, 100, 200, 0, 4)); /* not sent */
    writes_prune(&writes, 4);
    assert_int_equal(writes.count, 1);
    writes_prune(&writes, 5);
    assert_int_equal(writes.count, 0);
}

static void more_than_are_kept_are_widened(void **state)
{
    struct writes writes = {0};

    (void)state;
    for (uint32_t i = 0; i < 3 * WRITES_KEPT; i++)
        writes_add(&writes, 1000 * i, 1000 * i + 10, i + 1, 0);
    assert_int_equal(writes.count, WRITES_KEPT);
    for (uint32_t i = 0; i < 3 * WRITES_KEPT; i++) /* each one, asked for when just it was sent */
        assert_true(writes_meet(&writes, 1000 * i, 1000 * i + 10, 0, i + 1));
    writes_prune(&writes, 3 * WRITES_KEPT - 1);
    assert_int_equal(writes.count, 1); /* the widened one */
    writes_prune(&writes, 3 * WRITES_KEPT);
    assert_int_equal(writes.count, 0);
}

static void a_full_table_forgets_what_is_executed(void **state)
{
    struct writes writes = {0};

    (void)state;
    for (uint32_t i = 0; i < 10 * WRITES_KEPT; i++)
        writes_add(&writes, 1000 * i, 1000 * i + 10, i + 1, i);
    for (uint32_t i = 0; i < writes.count; i++)
        assert_false(writes.range[i].widened);
}

static void what_was_not_sent_is_forgotten(void **state)
{
    struct writes writes = {0};

    (void)state;
    for (uint32_t i = 1; i <= 4; i++)
        writes_add(&writes, 1000 * i, 1000 * i + 10, i, 0);
    writes_forget(&writes, 2);
    assert_int_equal(writes.count, 2);
    assert_true(writes_meet(&writes, 2000, 2010, 0, 2));
    assert_false(writes_meet(&writes, 3000, 3010, 0, 9));
    writes = (struct writes){0};
    for (uint32_t i = 1; i <= 2 * WRITES_KEPT; i++)
        writes_add(&writes, 1000 * i, 1000 * i + 10, i, 0);
    writes_forget(&writes, 2 * WRITES_KEPT - 3); /* the widened range holds some that were sent */
    assert_true(writes_meet(&writes, 1000 * (WRITES_KEPT + 2), 1000 * (WRITES_KEPT + 2) + 1, 0,
                            2 * WRITES_KEPT - 3));
    writes_prune(&writes, 2 * WRITES_KEPT - 3);
    assert_int_equal(writes.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_met_by_their_bytes),
        cmocka_unit_test(operations_bound_what_counts),
        cmocka_unit_test(more_than_are_kept_are_widened),
        cmocka_unit_test(a_full_table_forgets_what_is_executed),
        cmocka_unit_test(what_was_not_sent_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
