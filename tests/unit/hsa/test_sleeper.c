/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_sleeper.c: who waits long, while this process itself has data to move, goes on with it, and
 * does not sleep in between.
 * Covers: sleeper.c
 */
#include "tests/unit/test.h"
#include "program.h"
#include "hsa/sleeper.h"

TEST_GROUP(program_start, program_end)

/* A wait that began long ago; `late` does not let it sleep at the doorbell, as while data moves. */
static void rest_once(int64_t ns)
{
    struct sleeper sleeper = {.begun_ns = 0};

    sleeper_look(&sleeper);
    sleeper_rest(&sleeper, ns);
}

TEST(drives_while_data_moves)
{
    late.drives = true;
    for (int i = 1; i <= 3; i++) {
        rest_once(INT64_MAX);
        assert_int_equal(late.driven, i);
    }
    late.drives = false;
    late.driven = 0;
}

/* Another thread makes progress. */
TEST(sleeps_beside_a_driver)
{
    rest_once(1);
    assert_int_equal(late.driven, 0);
}
