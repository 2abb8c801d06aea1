/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_kernel_name.c: functions and lines in the symbols of target regions, and what lines show of
 * symbols of any length.
 * Covers: kernel_name.c */
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"
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

/* Of FRONT and as many arguments of templates as make it longer than lines may be. */
static const char *shown(const char *front, const char *back, size_t bytes,
                         char text[KERNEL_NAME_WORDS])
{
    static char symbol[8192];

    strcpy(symbol, front);
    for (size_t at = strlen(symbol); at < bytes; at = strlen(symbol))
        strcpy(symbol + at, "S1_");
    strcat(symbol, back);
    return kernel_name_words(symbol, text);
}

TEST(long_names)
{
    static const struct {
        const char *front, *back, *shown;
    } names[] = {
        {"__omp_offloading_10_2__ZL4workI", "Evi_l11", "work<...>:11"},
        {"__omp_offloading_10_2__ZN6Kokkos4Impl5applyIN", "EEvi_l7_debug__",
         "Kokkos::Impl::apply<...>:7"},
        {"__omp_offloading_10_2__ZNKSt6vectorI", "Ev_l123", "std::vector<...>:123"},
        {"_ZN5boxes4areaI", "Ev", "boxes::area<...>"},
        {"_Z4areaI", "Ev", "area<...>"},
    };
    char text[KERNEL_NAME_WORDS];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (size_t bytes = KERNEL_NAME_SHOWN + 1; bytes < 5000; bytes += 97)
            assert_string_equal(shown(names[i].front, names[i].back, bytes, text), names[i].shown);
}

TEST(names_without_a_plain_one)
{
    static const char *const fronts[] = {"",
                                         "__omp_offloading_10_2_",
                                         "__omp_offloading_10_2__Z",
                                         "__omp_offloading_10_2__ZN",
                                         "_Z99999999999999999999999",
                                         "_Z4096work",
                                         "__omp_offloading_10_2__ZNSt"};
    char text[KERNEL_NAME_WORDS];

    for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++)
        for (size_t bytes = 0; bytes < 5000; bytes += 31) {
            const char *words = shown(fronts[i], "_l2147483647", bytes, text);

            assert_true(strlen(words) > 0 && strlen(words) < KERNEL_NAME_WORDS);
            assert_true(strlen(words) <= KERNEL_NAME_SHOWN || words == text);
        }
}
