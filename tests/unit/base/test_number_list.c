/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_number_list.c: random lists against a set; what makes no sense is refused.
 * Covers: number_list.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "base/number_list.h"

enum { NUMBERS = 40 };

TEST(random_lists)
{
    srand(1);
    for (int round = 0; round < 500; round++) {
        bool set[NUMBERS] = {false}, has;
        char list[512] = "";
        for (int parts = 1 + rand() % 5; parts > 0; parts--) {
            int first = rand() % NUMBERS, last = first + rand() % (NUMBERS - first);
            size_t used = strlen(list);
            for (int i = first; i <= last; i++)
                set[i] = true;
            if (first == last && rand() % 2)
                snprintf(list + used, sizeof(list) - used, "%s%d", used ? "," : "", first);
            else
                snprintf(list + used, sizeof(list) - used, "%s%d-%d", used ? "," : "", first, last);
        }
        for (int i = 0; i < NUMBERS; i++) {
            assert_int_equal(number_list_has(list, i, &has), OMPRMA_OK);
            assert_int_equal(has, set[i]);
        }
    }
}

TEST(nothing_has_all)
{
    bool has = false;
    assert_int_equal(number_list_has("", 7, &has), OMPRMA_OK);
    assert_true(has);
}

TEST(what_makes_no_sense)
{
    static const char *const lists[] = {"a", "1,", ",1", "3-1", "1-", "-1", "1 2", "1,,2", "1-2-3"};
    bool has;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        assert_int_equal(number_list_has(lists[i], 0, &has), OMPRMA_ERR_CONFIG);
        assert_non_null(strstr(error_text(), lists[i]));
    }
}
