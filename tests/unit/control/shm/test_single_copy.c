/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_single_copy.c: where a filter forbids copies between processes, Open MPI is told not to try.
 * Covers: single_copy.c */
#include <string.h>

#include "tests/unit/test.h"
#include "control/library/quirks.h"
#include "control/shm/single_copy.h"
#include "tests/unit/filter_fixture.h"

static const char *users, *became;

static const char *get(void *data, const char *name)
{
    (void)data;
    return strcmp(name, "OMPI_MCA_btl_vader_single_copy_mechanism") == 0 ? users : NULL;
}

static void set(void *data, const char *name, const char *value)
{
    (void)data;
    became = strcmp(name, "OMPI_MCA_btl_vader_single_copy_mechanism") == 0 ? value : "another";
}

/* What becomes of the setting when the user has said this. */
static const char *setting(const char *value)
{
    const struct quick_environment environment = {get, set, NULL};

    users = value;
    became = value;
    quirks_single_copy(&environment);
    return became;
}

TEST(nothing_changes_where_it_is_allowed)
{
    assert_true(single_copy_is_allowed());
    assert_null(setting(NULL));
    assert_string_equal(setting("cma"), "cma");
}

enum { RIGHT, STILL_ALLOWED, ANOTHER_REASON, NOT_TOLD, USER_IGNORED };

static int under_a_filter(void)
{
    if (single_copy_is_allowed())
        return STILL_ALLOWED;
    if (errno != EPERM)
        return ANOTHER_REASON;
    if (!setting(NULL) || strcmp(setting(NULL), "none") != 0 || strcmp(setting(""), "none") != 0)
        return NOT_TOLD;
    return strcmp(setting("cma"), "cma") == 0 ? RIGHT : USER_IGNORED;
}

TEST(it_is_not_tried_where_it_is_forbidden)
{
    int result = filter_run(under_a_filter);

    if (result == FILTER_CANNOT_BE)
        skip();
    assert_int_equal(result, RIGHT);
}
