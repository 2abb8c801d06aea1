/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_launcher.c: what each launcher's table does with environments.
 * Covers: launch/launcher.c */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "tools/launch/launcher.h"

static struct list environment;

static const char *get(void *list, const char *name)
{
    return list_get(list, name);
}

static void set(void *list, const char *name, const char *value)
{
    list_set(list, name, value);
}

static const struct quick_environment changes = {get, set, &environment};

TEST(openmpi4_runs_where_the_user_says)
{
    list_set(&environment, "OMPI_MCA_orte_default_hostfile", "/site/hosts");
    list_set(&environment, "PMIX_MCA_gds", "ds12");
    launcher_openmpi4.prepare(&changes, false);
    assert_string_equal(list_get(&environment, "OMPI_MCA_orte_default_hostfile"), "none");
    assert_string_equal(list_get(&environment, "PMIX_MCA_gds"), "ds12");
    assert_null(list_get(&environment, "HWLOC_COMPONENTS"));
    list_set(&environment, "PMIX_MCA_gds", NULL);
    launcher_openmpi4.prepare(&changes, true);
    assert_string_equal(list_get(&environment, "PMIX_MCA_gds"), "hash");
    assert_non_null(list_get(&environment, "HWLOC_COMPONENTS"));
    list_clear(&environment);
}

/* Quirk "btl-ofi". */
TEST(openmpi4_leaves_out_what_is_wrong)
{
    launcher_openmpi4.program(&changes);
    assert_string_equal(list_get(&environment, "OMPI_MCA_btl_base_exclude"), "ofi");
    list_clear(&environment);
}

TEST(variables_of_rank_0)
{
    assert_true(launcher_gives("OMPI_COMM_WORLD_RANK=0"));
    assert_true(launcher_gives("PMIX_RANK=0"));
    assert_true(launcher_gives("PRTE_LAUNCHED=1"));
    assert_true(launcher_gives("PMI_PORT=vm:4711"));
    assert_false(launcher_gives("OMP_NUM_THREADS=2"));
    assert_false(launcher_gives("PATH=/bin"));
}

static void make_line(struct list *line, const char *const *words)
{
    while (*words)
        list_add(line, *words++);
}

static void check_line(const struct list *line, const char *const *words)
{
    size_t count = 0;
    for (; words[count]; count++)
        assert_string_equal(line->items[count], words[count]);
    assert_int_equal(line->count, count);
}

/* Of the user's own lines for Open MPI: -x, or the list that there is, and not both. */
TEST(variables_for_other_hosts)
{
    static const char *const plain[] = {"mpirun", "-n", "2", "a", ":", "b", NULL};
    static const char *const with_x[] = {"mpirun", "-x", "ONE", "-x", "TWO", "-n", "2", "a",
                                         ":",      "-x", "ONE", "-x", "TWO", "b",  NULL};
    static const char *const list[] = {"mpirun", "--mca", "mca_base_env_list", "MINE", "a", NULL};
    static const char *const longer[] = {"mpirun",       "--mca", "mca_base_env_list",
                                         "MINE;ONE;TWO", "a",     NULL};
    static const char variable[] = "OMPI_MCA_mca_base_env_list";
    struct list names = {0}, line = {0};
    list_add(&names, "ONE");
    list_add(&names, "TWO");
    unsetenv(variable);
    make_line(&line, plain);
    launcher_openmpi5.hand_on(&line, &names);
    check_line(&line, with_x);
    list_clear(&line);
    make_line(&line, list);
    launcher_openmpi4.hand_on(&line, &names);
    check_line(&line, longer);
    list_clear(&line);
    setenv(variable, "MINE", 1);
    make_line(&line, plain);
    launcher_openmpi4.hand_on(&line, &names);
    check_line(&line, plain);
    assert_string_equal(getenv(variable), "MINE;ONE;TWO");
    unsetenv(variable);
    list_clear(&line);
    list_clear(&names);
    assert_null(launcher_hydra.hand_on);
}

TEST(launchers_by_their_words)
{
    static const struct {
        const char *said;
        const struct launcher *launcher;
        const char *name;
    } cases[] = {
        {"mpirun (Open MPI) 4.1.4\n\nReport bugs to", &launcher_openmpi4, "Open MPI 4.1.4"},
        {"mpirun (Open MPI) 5.0.7\n", &launcher_openmpi5, "Open MPI 5.0.7"},
        {"mpirun (Open MPI) 6.0.0rc2\n", &launcher_openmpi5, "Open MPI 6.0.0"},
        {"mpirun (Open MPI) 4.0.7\n", NULL, "Open MPI 4.0.7"},
        {"mpirun (Open MPI) 7.1.0\n", NULL, "Open MPI 7.1.0"},
        {"HYDRA build details:\n    Version:           4.0.2\n", &launcher_hydra, "MPICH 4.0.2"},
        {"unrecognized argument version\n", NULL, ""},
        {"", NULL, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[LAUNCHER_NAME_BYTES];
        int version;
        assert_ptr_equal(launcher_by_words(cases[i].said, &version, name), cases[i].launcher);
        assert_string_equal(name, cases[i].name);
    }
}

/* A place of the job's own is not left to a site. */
TEST(hydra_runs_where_the_user_says)
{
    list_set(&environment, "HYDRA_HOST_FILE", "/site/hosts");
    launcher_hydra.prepare(&changes, true);
    assert_null(list_get(&environment, "HYDRA_HOST_FILE"));
    list_clear(&environment);
}

/* UCX, which the library loads, leaves signals alone, unless the user says otherwise. */
TEST(openmpi5_leaves_signals_alone)
{
    list_set(&environment, "UCX_HANDLE_ERRORS", "bt");
    launcher_openmpi5.prepare(&changes, true);
    assert_string_equal(list_get(&environment, "UCX_HANDLE_ERRORS"), "bt");
    assert_string_equal(list_get(&environment, "UCX_DEBUG_SIGNO"), "0");
    list_clear(&environment);
    launcher_openmpi5.program(&changes);
    assert_string_equal(list_get(&environment, "UCX_HANDLE_ERRORS"), "none");
    list_clear(&environment);
}
