/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test.h: the prelude of a unit test, in place of cmocka's.
 *
 *     TEST(a_sentence_that_it_proves)
 *     {
 *         assert_int_equal(1 + 1, 2);
 *     }
 *
 * A test registers itself; tests run in the order in which they stand. main() is here. Around each
 * test TEST_EACH(set_up, tear_down) has functions called, around all of them TEST_GROUP(set_up,
 * tear_down); either may be NULL.
 */
#ifndef OMPRMA_TESTS_TEST_H
#define OMPRMA_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "tests/unit/cmocka_both.h"

enum { TESTS_MOST = 128 };

struct test_run {
    struct CMUnitTest test[TESTS_MOST];
    size_t count;
    CMFixtureFunction set_up, tear_down; /* of the group */
    CMFixtureFunction before, after;     /* of each test */
};

static struct test_run test_run;

static inline void test_register(const char *name, CMUnitTestFunction function)
{
    if (test_run.count < TESTS_MOST)
        test_run.test[test_run.count] = (struct CMUnitTest){name, function, NULL, NULL, NULL};
    test_run.count++;
}

#define TEST(name)                                                                                 \
    static void name(void);                                                                        \
    static void name##_runs(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        name();                                                                                    \
    }                                                                                              \
    __attribute__((constructor)) static void name##_registers(void)                                \
    {                                                                                              \
        test_register(#name, name##_runs);                                                         \
    }                                                                                              \
    static void name(void)

#define TEST_EACH(set_up_function, tear_down_function)                                             \
    __attribute__((constructor)) static void test_each_registers(void)                             \
    {                                                                                              \
        test_run.before = (set_up_function);                                                       \
        test_run.after = (tear_down_function);                                                     \
    }

#define TEST_GROUP(set_up_function, tear_down_function)                                            \
    __attribute__((constructor)) static void test_group_registers(void)                            \
    {                                                                                              \
        test_run.set_up = (set_up_function);                                                       \
        test_run.tear_down = (tear_down_function);                                                 \
    }

int main(void)
{
    if (test_run.count == 0 || test_run.count > TESTS_MOST) {
        print_error("test.h: %zu tests, not 1 to %d\n", test_run.count, TESTS_MOST);
        return 2;
    }
    for (size_t i = 0; i < test_run.count; i++) {
        test_run.test[i].setup_func = test_run.before;
        test_run.test[i].teardown_func = test_run.after;
    }
    return _cmocka_run_group_tests("tests", test_run.test, test_run.count, test_run.set_up,
                                   test_run.tear_down);
}

#endif
