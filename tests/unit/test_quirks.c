/* test_quirks.c: which entries of the table apply to which version and component. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "control/quirks.h"

enum { V4_0_5 = 40005, V4_1_4 = 40104, V5_0_0 = 50000, V5_0_7 = 50007, V6_0_0 = 60000 };

static void versions_and_components(void **state)
{
    static const struct {
        int version;
        const char *component;
        unsigned wanted;
    } rows[] = {
        {V4_1_4, "ucx", QUIRK_NO_RPUT | QUIRK_ATTACH_32 | QUIRK_END_OF_REGION | QUIRK_FIXED_COST},
        {V4_0_5, "ucx", QUIRK_NO_RPUT | QUIRK_ATTACH_32 | QUIRK_END_OF_REGION | QUIRK_FIXED_COST},
        {V4_1_4, "rdma", QUIRK_ATTACH_64},
        {V4_1_4, "sm", 0},
        {V5_0_0, "ucx", QUIRK_ATTACH_32 | QUIRK_OUTSTANDING},
        {V5_0_7, "rdma", QUIRK_ATTACH_64 | QUIRK_OUTSTANDING},
        {V6_0_0, "ucx", QUIRK_ATTACH_32},
        {V6_0_0, "rdma", QUIRK_ATTACH_64},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(quirks_for(rows[i].version, rows[i].component), rows[i].wanted);
}

/* Of what is not known the worst is assumed. */
static void the_unknown_is_careful(void **state)
{
    unsigned known = quirks_for(V4_1_4, "ucx") | quirks_for(V4_1_4, "rdma");

    (void)state;
    assert_int_equal(quirks_for(V4_1_4, "unknown"), known);
    assert_int_equal(quirks_for(0, "ucx") & quirks_for(V4_1_4, "ucx"), quirks_for(V4_1_4, "ucx"));
    assert_int_equal(quirks_attach_limit(quirks_for(0, "unknown")), 31);
}

static void limits_stay_below_the_library_s(void **state)
{
    (void)state;
    assert_in_range(quirks_attach_limit(quirks_for(V4_1_4, "ucx")), 1, 31);
    assert_in_range(quirks_attach_limit(quirks_for(V4_1_4, "rdma")), 32, 63);
    assert_in_range(quirks_attach_limit(0), 64, 1 << 20);
}

static void every_entry_says_what_and_why(void **state)
{
    int count = 0;
    const struct quirk *table = quirks_table(&count);
    unsigned seen = 0;

    (void)state;
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        assert_true(strlen(table[i].name) > 3);
        assert_true(strlen(table[i].what) > 10);
        assert_true(strlen(table[i].why) > 10);
        assert_true(table[i].first_version < table[i].end_version);
        assert_int_equal(seen & table[i].id, 0);
        seen |= table[i].id;
    }
}

static void print_names_those_in_force(void **state)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    (void)state;
    assert_non_null(stream);
    quirks_print(QUIRK_NO_RPUT, stream);
    fclose(stream);
    assert_non_null(strstr(text, "no-rput"));
    assert_null(strstr(text, "attach-limit"));
    assert_int_equal(text[bytes - 1], '\n');
    free(text);
}

static void this_library_has_a_version(void **state)
{
    (void)state;
    assert_true(quirks_openmpi_version() >= 40000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_components),
        cmocka_unit_test(the_unknown_is_careful),
        cmocka_unit_test(limits_stay_below_the_library_s),
        cmocka_unit_test(every_entry_says_what_and_why),
        cmocka_unit_test(print_names_those_in_force),
        cmocka_unit_test(this_library_has_a_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
