/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_command.c: the mpirun command line.
 * Covers: launch/command.c launcher_hydra.c launcher_openmpi.c launcher_openmpi4.c
 * launcher_openmpi5.c list.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/test.h"

#include "tools/launch/command.h"
#include "tools/launch/launcher.h"
#include "tools/launch/llvm.h"

static struct launch launch;
static struct list first, line;

static int begin(void **state)
{
    (void)state;
    launch = (struct launch){.workers = 2};
    list_add(&first, "first");
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("OMPI_MCA_opal_signal");
    return 0;
}

static int end(void **state)
{
    (void)state;
    list_clear(&first);
    list_clear(&line);
    list_clear(&launch.mpi_args);
    hosts_clear(&launch.hosts);
    return 0;
}

TEST_EACH(begin, end)

static struct command command_base(void)
{
    return (struct command){.launch = &launch,
                            .launcher = &launcher_openmpi4,
                            .workers = command_workers(&launch),
                            .mpirun = "/bin/mpirun",
                            .worker = "/bin/worker",
                            .worker_path = "",
                            .osc = "auto",
                            .first = &first};
}

static size_t index_of(const char *text)
{
    size_t i = 0;
    while (i < line.count && strcmp(line.items[i], text) != 0)
        i++;
    return i;
}

/* The value that --mca NAME sets; NULL: none. */
static const char *mca(const char *name)
{
    size_t i = index_of(name);
    return i > 0 && i + 1 < line.count && strcmp(line.items[i - 1], "--mca") == 0
               ? line.items[i + 1]
               : NULL;
}

TEST(program_comes_first)
{
    struct command command = command_base();
    command_make(&line, &command);
    assert_string_equal(line.items[0], "/bin/mpirun");
    assert_string_equal(line.items[line.count - 1], "/bin/worker");
    size_t program = index_of("first"), colon = index_of(":");
    assert_true(program + 1 == colon && colon < line.count);
    assert_string_equal(line.items[program - 1], "1");
    assert_string_equal(line.items[colon + 1], "-n");
    assert_string_equal(line.items[colon + 2], "2");
    assert_string_equal(mca("opal_signal"), "");
    assert_null(mca("osc"));
    assert_false(list_contains(&line, "-H"));
}

TEST(components)
{
    struct command command = command_base();
    command.osc = "ucx";
    command_make(&line, &command);
    assert_string_equal(mca("pml"), "ucx");
    assert_string_equal(mca("osc"), "ucx");
    assert_string_equal(mca("opal_common_ucx_tls"), "any");
    assert_string_equal(mca("opal_common_ucx_devices"), "any");
    list_clear(&line);
    command.osc = "rdma";
    command_make(&line, &command);
    assert_string_equal(mca("pml"), "ob1");
    assert_string_equal(mca("osc"), "rdma");
}

TEST(users_settings_win)
{
    setenv("OMPI_MCA_opal_signal", "11", 1);
    list_add(&launch.mpi_args, "--mca");
    list_add(&launch.mpi_args, "osc");
    list_add(&launch.mpi_args, "pt2pt");
    struct command command = command_base();
    command.osc = "rdma";
    command_make(&line, &command);
    assert_null(mca("opal_signal"));
    assert_string_equal(mca("osc"), "pt2pt");
    int times = 0;
    for (size_t i = 0; i < line.count; i++)
        times += strcmp(line.items[i], "osc") == 0;
    assert_int_equal(times, 1);
}

TEST(hosts_are_for_workers)
{
    launch.workers = 0;
    assert_int_equal(hosts_parse(&launch.hosts, "h1:2,h2"), OMPRMA_OK);
    list_add(&launch.mpi_args, "--mca");
    list_add(&launch.mpi_args, "plm_rsh_agent");
    list_add(&launch.mpi_args, "/my/agent");
    struct command command = command_base();
    command.shell = "/tmp/omprma-shell";
    command_make(&line, &command);
    size_t program = index_of("first"), colon = index_of(":");
    assert_string_equal(line.items[program - 2], "-H");
    assert_string_equal(line.items[program - 1], "localhost");
    assert_string_equal(line.items[colon + 2], "3");
    assert_string_equal(line.items[colon + 3], "-H");
    assert_string_equal(line.items[colon + 4], "h1:2,h2:1");
    assert_string_equal(mca("plm_rsh_agent"), "/tmp/omprma-shell");
    assert_false(list_contains(&line, "/my/agent"));
    assert_string_equal(mca("mpi_yield_when_idle"), "1");
}

/* Each program of the line has the parameters of its own. */
TEST(openmpi5)
{
    list_add(&launch.mpi_args, "--mca");
    list_add(&launch.mpi_args, "btl_tcp_if_include");
    list_add(&launch.mpi_args, "10.1.0.0/16");
    list_add(&launch.mpi_args, "--leave-session-attached");
    struct command command = command_base();
    command.launcher = &launcher_openmpi5;
    command.osc = "rdma";
    command_make(&line, &command);
    int osc = 0, network = 0, attached = 0;
    for (size_t i = 0; i < line.count; i++) {
        osc += strcmp(line.items[i], "osc") == 0;
        network += strcmp(line.items[i], "10.1.0.0/16") == 0;
        attached += strcmp(line.items[i], "--leave-session-attached") == 0;
    }
    assert_int_equal(osc, 2);
    assert_string_equal(line.items[index_of("osc") - 1], "--mca");
    assert_int_equal(network, 2);
    assert_int_equal(attached, 1);
    assert_true(list_contains(&line, "slot:OVERSUBSCRIBE"));
    assert_string_equal(line.items[index_of("pmdl") + 1], "^ompi");
}

/* What stands behind the colon: "2 h1,h2" is a worker on each. */
static void assert_places(const char *wanted)
{
    char got[256] = "";
    int colons = 0;
    for (size_t k = 0; k < line.count; k++)
        colons += strcmp(line.items[k], ":") == 0;
    assert_int_equal(colons, 1);
    size_t i = index_of(":");
    while (i < line.count && strcmp(line.items[i], "-n") != 0)
        i++;
    assert_true(i + 3 < line.count);
    assert_string_equal(line.items[i + 2], "-H");
    snprintf(got, sizeof(got), "%s %s", line.items[i + 1], line.items[i + 3]);
    assert_string_equal(got, wanted);
}

TEST(openmpi5_hosts)
{
    launch.workers = 0;
    assert_int_equal(hosts_parse(&launch.hosts, "h1:2,h2,h3:2"), OMPRMA_OK);
    list_add(&launch.mpi_args, "-mca");
    list_add(&launch.mpi_args, "mpi_own");
    list_add(&launch.mpi_args, "1");
    list_add(&launch.mpi_args, "--prtemca");
    list_add(&launch.mpi_args, "plm_ssh_agent");
    list_add(&launch.mpi_args, "/my/agent");
    struct command command = command_base();
    command.launcher = &launcher_openmpi5;
    command.shell = "/tmp/omprma-shell";
    command_make(&line, &command);
    assert_places("5 h1,h1,h2,h3,h3");
    assert_string_equal(line.items[index_of("mpi_yield_when_idle") - 1], "--omca");
    assert_string_equal(line.items[index_of("mpi_own") - 1], "--omca");
    assert_string_equal(line.items[index_of("--map-by") + 1], "seq:OVERSUBSCRIBE");
    assert_false(list_contains(&line, "/my/agent"));
    assert_string_equal(line.items[index_of("plm_ssh_agent") + 1], "/tmp/omprma-shell");
    assert_string_equal(launcher_openmpi5.users_shell(&launch), "/my/agent");
    list_clear(&line);
    launch.workers = command.workers = 6; /* more than there are places */
    command_make(&line, &command);
    assert_places("6 h1,h1,h2,h3,h3,h1");
    list_clear(&line);
    launch.by_node = true;
    command_make(&line, &command);
    assert_places("6 h1,h2,h3,h1,h3,h1");
    launch.by_node = false;
}

TEST(hydra)
{
    setenv("LD_LIBRARY_PATH", "/user/lib", 1);
    struct command command = command_base();
    command.launcher = &launcher_hydra;
    command_make(&line, &command);
    size_t program = index_of("first"), colon = index_of(":");
    assert_true(program + 1 == colon && colon < index_of("LD_LIBRARY_PATH"));
    assert_string_equal(line.items[index_of("LD_LIBRARY_PATH") - 1], "-env");
    assert_string_equal(line.items[index_of("LD_LIBRARY_PATH") + 1], "/user/lib");
    assert_true(list_contains(&line, "-pmi-port"));
    assert_string_equal(line.items[index_of("-launcher") + 1], "fork");
    assert_false(list_contains(&line, "--mca"));
    assert_false(list_contains(&line, "-x"));
    list_clear(&line);
    assert_int_equal(hosts_parse(&launch.hosts, "nohost1:2,nohost2"), OMPRMA_OK);
    command.shell = "/tmp/omprma-shell";
    command_make(&line, &command);
    assert_string_equal(line.items[index_of("-hosts") + 1], "localhost:1,nohost1:2,nohost2:1");
    assert_string_equal(line.items[index_of("-launcher-exec") + 1], "/tmp/omprma-shell");
    list_clear(&line);
    launch.by_node = true;
    command_make(&line, &command);
    assert_string_equal(line.items[index_of("-hosts") + 1],
                        "localhost:1,nohost1:1,nohost2:1,nohost1:1");
    launch.by_node = false;
}

TEST(without_a_remote_shell)
{
    struct command command = command_base();
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/no/folder", 1);
    command_make(&line, &command);
    assert_string_equal(mca("plm"), "isolated");
    list_clear(&line);
    assert_int_equal(hosts_parse(&launch.hosts, "h1:2,h2"), OMPRMA_OK);
    command_make(&line, &command);
    assert_null(mca("plm"));
    setenv("PATH", path, 1);
    free(path);
}

TEST(environment_is_forwarded_to_workers)
{
    setenv("OMP_NUM_THREADS", "3", 1);
    setenv("UCX_TLS", "tcp", 1);
    setenv("OMPRMA_INTERNAL_X", "no", 1);
    setenv("LD_LIBRARY_PATH", "/user/lib", 1);
    struct command command = command_base();
    command.worker_path = "/llvm/lib";
    command_make(&line, &command);
    size_t colon = index_of(":");
    assert_true(index_of("OMP_NUM_THREADS") > colon && index_of("OMP_NUM_THREADS") < line.count);
    assert_true(list_contains(&line, "UCX_TLS"));
    assert_false(list_contains(&line, "OMPRMA_INTERNAL_X"));
    assert_true(index_of("LD_LIBRARY_PATH=/llvm/lib:/user/lib") > colon);
    assert_true(list_contains(&line, "LD_LIBRARY_PATH=/llvm/lib:/user/lib"));
}

TEST(worker_count)
{
    launch.workers = 0;
    assert_int_equal(command_workers(&launch), 1);
    assert_int_equal(hosts_parse(&launch.hosts, "a:2,b:3"), OMPRMA_OK);
    assert_int_equal(command_workers(&launch), 5);
    launch.workers = 4;
    assert_int_equal(command_workers(&launch), 4);
}

TEST(shell_quoting)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    list_add(&line, "a-b=c");
    list_add(&line, "");
    list_add(&line, "it's $x");
    list_print_shell(&line, out);
    fclose(out);
    assert_string_equal(text, "a-b=c '' 'it'\\''s $x'\n");
    free(text);
}

TEST(list_of_variables)
{
    list_set(&line, "A", "1");
    list_set(&line, "AB", "2");
    list_set(&line, "A", "3");
    assert_string_equal(list_get(&line, "A"), "3");
    assert_string_equal(list_get(&line, "AB"), "2");
    assert_int_equal(line.count, 2);
    list_set(&line, "A", NULL);
    assert_null(list_get(&line, "A"));
    assert_null(line.items[line.count]);
}

static void assert_preload(const char *ours, const char *users, const char *wanted)
{
    char *got = preload_join(ours, users);
    assert_string_equal(got, wanted);
    free(got);
}

TEST(preloads)
{
    assert_preload("/o/own.so", NULL, "/o/own.so");
    assert_preload("/o/own.so", "/u/libomp.so:b.so", "/o/own.so:/u/libomp.so:b.so");
    assert_preload("/o/own.so", "a.so /gcc/libasan.so.8.0.0",
                   "/gcc/libasan.so.8.0.0:/o/own.so:a.so");
    assert_preload("/o/own.so", "libclang_rt.asan-x86_64.so",
                   "libclang_rt.asan-x86_64.so:/o/own.so");
    assert_preload(NULL, "a.so", "a.so");
    assert_preload(NULL, NULL, "");
}
