/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_ranges.c: names in brackets, and what is none.
 * Covers: ranges.c */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "tools/launch/ranges.h"

static void assert_expands(const char *word, const char *expected)
{
    struct list names = {0};
    char text[512] = "";

    assert_true(ranges_expand(word, &names));
    for (size_t i = 0; i < names.count; i++) {
        strcat(text, i ? " " : "");
        strcat(text, names.items[i]);
    }
    assert_string_equal(text, expected);
    list_clear(&names);
}

TEST(expands)
{
    assert_expands("node", "node");
    assert_expands("node[3]", "node3");
    assert_expands("node[1-3]", "node1 node2 node3");
    assert_expands("n[08-10,2].x", "n08.x n09.x n10.x n2.x");
    assert_expands("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2");
}

TEST(refuses)
{
    static const char *const bad[] = {
        "n[",      "n]",    "n[]",   "n[1-]",     "n[-1]",         "n[2-1]",   "n[a-b]",
        "n[1,,2]", "n[1-2", "n[1]]", "n[1-5000]", "n[1234567890]", "n[1-2-3]", "n[[1]"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct list names = {0};

        assert_false(ranges_expand(bad[i], &names));
        list_clear(&names);
    }
}

TEST(items_end_at_commas_outside_of_brackets)
{
    char text[] = "a,b[1-2,4]:2,,c", *rest = text;

    assert_string_equal(ranges_next(&rest), "a");
    assert_string_equal(ranges_next(&rest), "b[1-2,4]:2");
    assert_string_equal(ranges_next(&rest), "");
    assert_string_equal(ranges_next(&rest), "c");
    assert_null(ranges_next(&rest));
}
