/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_free_memory.c: the least of host and control groups, from recorded files.
 * Covers: free_memory.c */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "worker/free_memory.h"

enum { MIB = 1 << 20 };

static char root[] = "/tmp/omprma-test-XXXXXX";

static void record(const char *path, const char *content)
{
    char command[256], name[128];
    snprintf(name, sizeof(name), "%s%s", root, path);
    snprintf(command, sizeof(command), "mkdir -p $(dirname %s)", name);
    assert_int_equal(system(command), 0);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(root + strlen(root) - 6, "XXXXXX");
    if (!mkdtemp(root))
        return 1;
    record("/proc/meminfo", "MemTotal:       16384000 kB\nMemFree:         1024 kB\n"
                            "MemAvailable:   1024000 kB\nMemAvailableNot: 1 kB\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", root);
    return system(command);
}

#define assert_free_mib(expected) assert_int_equal(free_memory_bytes(root) / MIB, expected)

TEST(without_groups)
{
    assert_free_mib(1000);
    assert_int_equal(free_memory_bytes("/nonexistent"), 0);
    assert_true(free_memory_bytes("") > MIB);
}

TEST(version_2)
{
    record("/proc/self/cgroup", "0::/outer/inner\n");
    record("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
    record("/sys/fs/cgroup/outer/inner/memory.current", "1048576\n");
    assert_free_mib(1000);
    record("/sys/fs/cgroup/outer/inner/memory.max", "524288000\n"); /* 500 MiB */
    assert_free_mib(499);
    record("/sys/fs/cgroup/outer/inner/memory.current", "314572800\n"); /* 300 MiB */
    assert_free_mib(200);
    record("/sys/fs/cgroup/outer/inner/memory.stat",
           "anon 1\ninactive_file_not 7\ninactive_file 104857600\n"); /* 100 MiB */
    assert_free_mib(300);
    /* a tighter limit above */
    record("/sys/fs/cgroup/outer/memory.max", "419430400\n");     /* 400 MiB */
    record("/sys/fs/cgroup/outer/memory.current", "367001600\n"); /* 350 MiB */
    assert_free_mib(50);
    record("/sys/fs/cgroup/outer/memory.current", "999999999999\n");
    assert_free_mib(0);
}

TEST(version_1)
{
    record("/proc/self/cgroup",
           "7:cpu,cpuacct:/x\n4:hugetlb,memory:/job\n1:name=systemd:/\n0::/\n");
    record("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    record("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1048576\n");
    assert_free_mib(1000);
    record("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "104857600\n"); /* 100 MiB */
    record("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "62914560\n");  /* 60 MiB */
    record("/sys/fs/cgroup/memory/job/memory.stat",
           "inactive_file 1\ntotal_inactive_file 10485760\n"); /* 10 MiB */
    assert_free_mib(50);
}

TEST(in_a_container)
{
    /* the path is the host's; only the mount's own files are seen */
    record("/proc/self/cgroup", "0::/../../host/path\n");
    record("/sys/fs/cgroup/memory.max", "209715200\n"); /* 200 MiB */
    record("/sys/fs/cgroup/memory.current", "104857600\n");
    assert_free_mib(100);
    /* version 2 beside version 1 */
    record("/sys/fs/cgroup/unified/memory.max", "104857600\n");
    record("/sys/fs/cgroup/unified/memory.current", "0\n");
    record("/sys/fs/cgroup/memory.current", "0\n");
    assert_free_mib(100);
}

TEST_EACH(set_up, tear_down)
