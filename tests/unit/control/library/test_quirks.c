/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_quirks.c: the table of known defects: which apply by version and component, what they mean
 * for the number of regions, and how they are shown. Nothing here starts MPI.
 * Covers: quirks.c
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "control/library/quirks.h"
#include "control/mpi/transport.h"

enum {
    UCX_4 = QUIRK_NO_RPUT | QUIRK_ATTACH_32 | QUIRK_END_OF_REGION | QUIRK_ATTACH_ORDER |
            QUIRK_TABLE_RACE | QUIRK_CALLS_WAIT,
    UCX_5 = QUIRK_ATTACH_32 | QUIRK_ATTACH_ORDER | QUIRK_CALLS_WAIT,
    RDMA_5 = QUIRK_ATTACH_64 | QUIRK_TABLE_RACE_NEAR | QUIRK_TARGET_POLLS | QUIRK_GET_LEAK |
             QUIRK_PUT_LEAK
};

static unsigned quirks_of(int version, const char *component)
{
    return quirks_for(&(struct library){LIBRARY_OPENMPI, version}, component);
}

TEST(version_and_component_decide)
{
    static const struct {
        int version;
        const char *component;
        unsigned quirks;
    } cases[] = {
        {40000, "ucx", UCX_4}, {40104, "ucx", UCX_4},
        {49999, "ucx", UCX_4}, {40104, "rdma", QUIRK_ATTACH_64 | QUIRK_BTL_OFI},
        {40104, "pt2pt", 0},   {40104, "sm", 0},
        {40104, "none", 0},    {50000, "ucx", UCX_5 | QUIRK_ONE_THREAD},
        {50010, "ucx", UCX_5}, {50007, "rdma", RDMA_5},
        {50100, "ucx", UCX_5}, {60000, "rdma", RDMA_5},
        {30106, "ucx", 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned got = quirks_of(cases[i].version, cases[i].component);

        if (got != cases[i].quirks)
            fail_msg("%d with %s: 0x%x, not 0x%x", cases[i].version, cases[i].component, got,
                     cases[i].quirks);
    }
}

TEST(unknown_component_has_all_of_its_version)
{
    assert_int_equal(quirks_of(40104, "unknown"), UCX_4 | QUIRK_ATTACH_64 | QUIRK_BTL_OFI);
    assert_int_equal(quirks_of(50000, "unknown"), UCX_5 | RDMA_5 | QUIRK_ONE_THREAD);
    assert_int_equal(quirks_of(30106, "unknown"), 0);
}

TEST(unknown_version_has_those_of_4_0)
{
    assert_int_equal(quirks_of(0, "rdma"), QUIRK_ATTACH_64 | QUIRK_BTL_OFI);
    assert_int_equal(quirks_of(0, "ucx"), UCX_4);
}

TEST(library_decides)
{
    const struct library mpich_4 = {LIBRARY_MPICH, 40002}, mpich_5 = {LIBRARY_MPICH, 50002},
                         other = {LIBRARY_OTHER, 0};

    assert_int_equal(quirks_for(&mpich_4, "unknown"),
                     QUIRK_TARGET_POLLS | QUIRK_SLOW_LARGE | QUIRK_PEERS_END);
    assert_int_equal(quirks_for(&(struct library){LIBRARY_MPICH, 40201}, "unknown"),
                     QUIRK_TARGET_POLLS | QUIRK_PEERS_END);
    assert_int_equal(quirks_for(&mpich_5, "unknown"), QUIRK_TARGET_POLLS | QUIRK_PEERS_END);
    assert_int_equal(quirks_for(&other, "unknown"),
                     UCX_4 | QUIRK_ATTACH_64 | QUIRK_BTL_OFI | QUIRK_SLOW_LARGE);
}

TEST(lowest_attach_limit_counts)
{
    assert_int_equal(quirks_attach_limit(QUIRK_ATTACH_32), 31);
    assert_int_equal(quirks_attach_limit(QUIRK_ATTACH_64), 63);
    assert_int_equal(quirks_attach_limit(QUIRK_ATTACH_32 | QUIRK_ATTACH_64), 31);
    assert_int_equal(quirks_attach_limit(0), INT_MAX);
    assert_int_equal(quirks_attach_limit(QUIRK_NO_RPUT), INT_MAX);
    assert_int_equal(quirks_attach_limit(quirks_of(40104, "ucx")), 31);
    assert_int_equal(quirks_attach_limit(quirks_of(40104, "rdma")), 63);
}

TEST(every_entry_is_complete)
{
    int count = 0;
    const struct quirk *table = quirks_table(&count);
    unsigned seen = 0;

    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < i; k++)
            assert_false(table[k].id == table[i].id && table[k].library == table[i].library &&
                         table[k].end_version > table[i].first_version);
        seen |= table[i].id;
        assert_non_null(table[i].name);
        assert_true(strlen(table[i].what) > 0 && strlen(table[i].why) > 0);
        assert_true(table[i].first_version < table[i].end_version);
        /* What the table says of itself is what the query gives. */
        const char *component = table[i].component ? table[i].component : "sm";
        struct library library = {table[i].library, table[i].first_version};
        assert_true(quirks_for(&library, component) & table[i].id);
        library.version = table[i].end_version;
        assert_false(quirks_for(&library, component) & table[i].id);
        library.version = table[i].first_version - 1;
        assert_false(quirks_for(&library, component) & table[i].id);
    }
    assert_int_equal(seen, (QUIRK_CALLS_WAIT << 1) - 1);
}

TEST(print_shows_those_in_force)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    quirks_print(QUIRK_ATTACH_64, out);
    fclose(out);
    assert_non_null(strstr(text, "attach-limit: at most 63 arenas"));
    assert_null(strstr(text, "no-rput"));
    assert_ptr_equal(strchr(text, '\n'), text + bytes - 1);
    free(text);
}

TEST(library_text_is_one_line)
{
    char text[128];

    transport_mpi.library(text, sizeof(text));
    assert_true(strlen(text) > 0);
    assert_null(strchr(text, '\n'));
}

TEST(foreign_window_is_unknown)
{
    /* Words that are no addresses, and a table of functions that are no component's. */
    static void *module[16], *window[128];

    for (size_t i = 0; i < 16; i++)
        module[i] = (void *)quirks_print;
    for (size_t i = 0; i < 128; i++)
        window[i] = i % 2 ? (void *)module : (void *)(uintptr_t)(i * 8);
    assert_string_equal(quirks_component(window), "unknown");
    assert_string_equal(quirks_component(NULL), "unknown");
}

/* As where components are parts of libmpi: only the names of functions tell. */
__attribute__((visibility("default"))) void ompi_osc_rdma_stand_in(void);
__attribute__((visibility("default"))) void ompi_osc_sm_stand_in(void);
__attribute__((visibility("default"))) void ompi_osc_base_stand_in(void);

void ompi_osc_rdma_stand_in(void)
{
}

void ompi_osc_sm_stand_in(void)
{
}

void ompi_osc_base_stand_in(void)
{
}

TEST(component_is_known_by_its_functions)
{
    static void *module[16], *neighbour[16], *window[128];

    module[0] = (void *)ompi_osc_base_stand_in;
    window[8] = (void *)module;
    assert_string_equal(quirks_component(window), "unknown");
    module[1] = module[2] = (void *)ompi_osc_rdma_stand_in;
    assert_string_equal(quirks_component(window), "rdma");
    /* Something of another one lies near something else that the window points to. */
    neighbour[14] = (void *)ompi_osc_sm_stand_in;
    window[7] = (void *)neighbour;
    assert_string_equal(quirks_component(window), "rdma");
    window[9] = window[7];
    window[7] = NULL;
    assert_string_equal(quirks_component(window), "rdma");
}

/* ---- what is left out ---- */

static const char *const names[] = {
    "OMPI_MCA_btl",   "OMPI_MCA_btl_base_include",     "OMPI_MCA_btl_base_exclude",
    "HOME",           "OMPI_MCA_mca_base_param_files", "OPAL_PREFIX",
    "OPAL_SYSCONFDIR"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };
static char values[NAMES][80];

static char *value_of(const char *name)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(names[i], name) == 0)
            return values[i];
    fail_msg("%s", name);
    return NULL;
}

static const char *get(void *data, const char *name)
{
    (void)data;
    return *value_of(name) ? value_of(name) : NULL;
}

static void set(void *data, const char *name, const char *value)
{
    (void)data;
    snprintf(value_of(name), sizeof(values[0]), "%s", value);
}

static const struct quick_environment environment = {get, set, NULL};
static const struct library openmpi_4 = {LIBRARY_OPENMPI, 40104};

/* The user gets what was asked for, less btl/ofi; and once is enough. */
TEST(btl_ofi_is_left_out_of_every_choice)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"^openib", "^openib,ofi"},
        {"^openib,ofi", "^openib,ofi"},
        {"^ofi", "^ofi"},
        {"^", "^ofi"},
        {"self,tcp", "self,tcp"},
        {"self,ofi,vader", "self,vader"},
        {"ofi", "self"},
        {"ofi,ofi", "self"},
        {"^ofix,xofi", "^ofix,xofi,ofi"},
        {"ofix,xofi", "ofix,xofi"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        memset(values, 0, sizeof(values));
        set(NULL, "OMPI_MCA_btl", cases[i][0]);
        for (int times = 0; times < 2; times++) {
            quirks_rank(&environment, &openmpi_4, false);
            assert_string_equal(value_of("OMPI_MCA_btl"), cases[i][1]);
            assert_string_equal(value_of("OMPI_MCA_btl_base_exclude"), "ofi");
        }
    }
    set(NULL, "OMPI_MCA_btl_base_exclude", "tcp");
    set(NULL, "OMPI_MCA_btl_base_include", "ofi,vader");
    quirks_rank(&environment, &openmpi_4, false);
    assert_string_equal(value_of("OMPI_MCA_btl_base_exclude"), "tcp,ofi");
    assert_string_equal(value_of("OMPI_MCA_btl_base_include"), "vader");
}

/* What the user's file excludes stays so. */
TEST(what_a_file_excludes_stays_excluded)
{
    static const char *const cases[][3] = {
        {"btl_base_exclude = tcp,usnic\n", "", "tcp,usnic,ofi"},
        {"btl_base_exclude=ofi,tcp\n", "", ""},
        {"# btl_base_exclude = tcp\n", "", "ofi"},
        {"btl_base_exclude = tcp\n", "usnic", "usnic,ofi"}, /* the variable wins */
    };
    char home[] = "/tmp/test-quirks-XXXXXX", folder[64], file[96];

    assert_non_null(mkdtemp(home));
    snprintf(folder, sizeof(folder), "%s/.openmpi", home);
    snprintf(file, sizeof(file), "%s/mca-params.conf", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        FILE *out = fopen(file, "w");

        assert_non_null(out);
        fputs(cases[i][0], out);
        fclose(out);
        memset(values, 0, sizeof(values));
        set(NULL, "HOME", home);
        set(NULL, "OMPI_MCA_btl_base_exclude", cases[i][1]);
        quirks_rank(&environment, &openmpi_4, false);
        assert_string_equal(value_of("OMPI_MCA_btl_base_exclude"), cases[i][2]);
    }
    unlink(file);
    rmdir(folder);
    rmdir(home);
}

TEST(other_versions_keep_it)
{
    memset(values, 0, sizeof(values));
    set(NULL, "OMPI_MCA_btl", "^openib");
    quirks_rank(&environment, &(struct library){LIBRARY_OPENMPI, 50003}, false);
    assert_string_equal(value_of("OMPI_MCA_btl"), "^openib");
    assert_string_equal(value_of("OMPI_MCA_btl_base_exclude"), "");
}
