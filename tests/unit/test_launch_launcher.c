/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_launch_launcher.c: what each launcher's table does with environments. */
#include <stdlib.h>
#include <string.h>

#include "test.h"
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
    assert_false(launcher_gives("OMP_NUM_THREADS=2"));
    assert_false(launcher_gives("PATH=/bin"));
}
