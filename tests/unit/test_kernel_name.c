/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_kernel_name.c: functions and lines in the symbols of target regions. */
#include <string.h>

#include "test.h"
#include "base/kernel_name.h"

static void assert_name(const char *symbol, const char *function, int line)
{
    struct kernel_name name;

    assert_true(kernel_name_split(symbol, &name));
    assert_int_equal(name.bytes, strlen(function));
    assert_memory_equal(name.function, function, name.bytes);
    assert_int_equal(name.line, line);
}

TEST(regions)
{
    assert_name("__omp_offloading_fe00_a7669a_main_l42", "main", 42);
    assert_name("__omp_offloading_fe00_a7669a_main_l42_1", "main", 42);
    assert_name("__omp_offloading_fe00_a7669a_main_l42_debug__", "main", 42);
    assert_name("__omp_offloading_10_2__ZN3boxIdE4areaEv_l7", "_ZN3boxIdE4areaEv", 7);
    assert_name("__omp_offloading_10_2_the_l3_of_l12", "the_l3_of", 12);
}

TEST(others)
{
    static const char *const symbols[] = {"",
                                          "main_l42",
                                          "__omp_offloading_",
                                          "__omp_offloading_10",
                                          "__omp_offloading_10_2",
                                          "__omp_offloading_10_2_l7",
                                          "__omp_offloading_10_2_main",
                                          "__omp_offloading_10_2_main_lx"};
    struct kernel_name name;

    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
        assert_false(kernel_name_split(symbols[i], &name));
}
