/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_allocation.c: hosts of a batch system, with a stand-in for scontrol.
 * Covers: allocation.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "tools/launch/allocation.h"

static char folder[] = "/tmp/omprma-test-XXXXXX";

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(path, 0755);
}

static void forget_all(void)
{
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_JOB_NODELIST");
    unsetenv("SLURM_TASKS_PER_NODE");
    unsetenv("SLURM_STEP_ID");
    unsetenv("SLURM_STEP_NODELIST");
    unsetenv("SLURM_STEP_TASKS_PER_NODE");
    unsetenv("PBS_NODEFILE");
}

static int make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    write_file("scontrol",
               "#!/bin/sh\n[ \"$*\" = 'show hostnames n[1-3]' ] && printf 'n1\\nn2\\nn3\\n'\n");
    char *path = text_make("%s:%s", folder, getenv("PATH"));
    setenv("PATH", path, 1);
    free(path);
    forget_all();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char *command = text_make("rm -r %s", folder);
    int status = system(command);
    free(command);
    return status;
}

static void slurm(const char *nodes, const char *tasks)
{
    forget_all();
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NODELIST", nodes, 1);
    if (tasks)
        setenv("SLURM_TASKS_PER_NODE", tasks, 1);
}

/* What is taken when the user wants so many workers, 0: says nothing. */
static void assert_takes(int workers, const char *hosts, int total)
{
    struct launch launch = {.workers = workers};
    assert_int_equal(allocation_take(&launch), OMPRMA_OK);
    char *text = hosts_format(&launch.hosts, 0);
    assert_string_equal(text, hosts);
    assert_int_equal(launch.workers, total);
    free(text);
    hosts_clear(&launch.hosts);
}

static void assert_refuses(const char *words)
{
    struct launch launch = {0};
    assert_int_equal(allocation_take(&launch), OMPRMA_ERR_CONFIG);
    assert_non_null(strstr(error_text(), words));
    hosts_clear(&launch.hosts);
}

TEST(takes_slurm)
{
    slurm("n[1-3]", NULL);
    assert_takes(0, "n1:1,n2:1,n3:1", 3);
    slurm("n[1-3]", "2(x3)");
    assert_takes(0, "n1:2,n2:2,n3:2", 6);
    slurm("n[1-3]", "2(x2),1");
    assert_takes(0, "n1:2,n2:2,n3:1", 5);
    slurm("n[1-3]", "4,1(x2)");
    assert_takes(0, "n1:4,n2:1,n3:1", 6);
    slurm("n7", "2"); /* the stand-in for scontrol does not know these */
    assert_takes(0, "n7:2", 2);
    slurm("n7,m8", "2,1");
    assert_takes(0, "n7:2,m8:1", 3);
}

static void step(const char *number, const char *nodes, const char *tasks)
{
    setenv("SLURM_STEP_ID", number, 1);
    setenv("SLURM_STEP_NODELIST", nodes, 1);
    setenv("SLURM_STEP_TASKS_PER_NODE", tasks, 1);
    setenv("SLURM_TASKS_PER_NODE", tasks, 1); /* as srun does */
}

TEST(takes_step)
{
    slurm("n[1-3]", NULL);
    step("0", "n2", "1"); /* srun -N1 -n1 */
    assert_takes(0, "n2:1", 1);
    assert_takes(4, "n2:4", 4);
    step("3", "n[1-3]", "2(x3)");
    assert_takes(0, "n1:2,n2:2,n3:2", 6);
    step("0", "n2", "many");
    assert_refuses("SLURM_STEP_TASKS_PER_NODE=many");
    slurm("n[1-3]", "2(x3)"); /* the job's own shell runs on its first host */
    setenv("SLURM_STEP_ID", "4294967290", 1);
    setenv("SLURM_STEP_NODELIST", "n1", 1);
    setenv("SLURM_STEP_TASKS_PER_NODE", "1", 1);
    assert_takes(0, "n1:2,n2:2,n3:2", 6);
}

TEST(spreads_workers)
{
    slurm("n[1-3]", "2(x3)");
    assert_takes(4, "n1:2,n2:1,n3:1", 4);
    assert_takes(2, "n1:1,n2:1", 2);
    assert_takes(9, "n1:3,n2:3,n3:3", 9);
}

TEST(refuses_slurm)
{
    slurm("n[1-3]", "two");
    assert_refuses("SLURM_TASKS_PER_NODE=two");
    slurm("n[1-3]", "2(x0)");
    assert_refuses("SLURM_TASKS_PER_NODE=2(x0)");
    slurm("n[1-4]", NULL);
    assert_refuses("scontrol");
    slurm("n1';rm", NULL);
    assert_refuses("SLURM_JOB_NODELIST");
    slurm("", NULL);
    assert_refuses("SLURM_JOB_NODELIST");
}

TEST(takes_pbs)
{
    char *path = text_make("%s/nodes", folder);
    forget_all();
    write_file("nodes", "n1\nn1\nn2\n");
    setenv("PBS_NODEFILE", path, 1);
    assert_takes(0, "n1:2,n2:1", 3);
    write_file("nodes", "");
    assert_refuses("names no host");
    assert_int_equal(unlink(path), 0); /* the job is over */
    assert_refuses("PBS_NODEFILE=");
    free(path);
}

TEST(leaves_alone)
{
    struct launch launch = {0};
    char name[256] = "", *path = text_make("%s/nodes", folder);

    forget_all();
    assert_takes(0, "", 0);
    assert_takes(3, "", 3);

    slurm("n[1-3]", NULL); /* the user's own hosts win */
    assert_int_equal(hosts_parse(&launch.hosts, "h1:2"), OMPRMA_OK);
    assert_int_equal(allocation_take(&launch), OMPRMA_OK);
    assert_int_equal(launch.hosts.total, 2);
    assert_true(launch.slurm);
    hosts_clear(&launch.hosts);

    gethostname(name, sizeof(name) - 1); /* this host alone needs no remote shell */
    forget_all();
    strcat(name, "\n");
    char *twice = text_make("%s%s", name, name);
    write_file("nodes", twice);
    setenv("PBS_NODEFILE", path, 1);
    assert_takes(0, "", 2);
    free(twice);
    free(path);
}

TEST_GROUP(make_folder, remove_folder)
