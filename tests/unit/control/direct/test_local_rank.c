/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_local_rank.c: tests local_rank.c with what launchers set, and with numbers that make no
 * sense.
 * Covers: local_rank.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "control/direct/local_rank.h"

static const char *const names[][2] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},
    {"PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"},
    {"JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE"},
    {"SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static int clear(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        unsetenv(names[i][0]);
        unsetenv(names[i][1]);
    }
    return unsetenv("SLURM_NODEID");
}
TEST_EACH(clear, clear)

TEST(a_rank_of_all_is_what_the_launcher_says)
{
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("PMI_RANK");
    unsetenv("PMIX_RANK");
    unsetenv("JSM_NAMESPACE_RANK");
    unsetenv("SLURM_PROCID");
    assert_int_equal(rank_find(), -1);
    setenv("SLURM_PROCID", "7", 1);
    assert_int_equal(rank_find(), 7);
    setenv("PMI_RANK", "3x", 1);
    assert_int_equal(rank_find(), 7);
    setenv("PMI_RANK", "3", 1);
    assert_int_equal(rank_find(), 3);
    unsetenv("PMI_RANK");
    unsetenv("SLURM_PROCID");
}

static void set(size_t row, const char *rank, const char *size)
{
    setenv(names[row][0], rank, 1);
    setenv(names[row][1], size, 1);
}

static void expect(int rank, int size)
{
    struct local_rank found = local_rank_find();
    assert_int_equal(found.rank, rank);
    assert_int_equal(found.size, size);
    assert_int_equal(found.variable != NULL, rank >= 0);
}

TEST(each_launcher_tells_it)
{
    expect(-1, -1);
    for (size_t row = 0; row < NAMES; row++) {
        clear(NULL);
        setenv("SLURM_NODEID", "0", 1);
        set(row, "2", "5");
        expect(2, 5);
        assert_string_equal(local_rank_find().variable, names[row][0]);
    }
}

TEST(the_innermost_counts)
{
    for (size_t row = NAMES; row-- > 0;) {
        char rank[24];
        snprintf(rank, sizeof(rank), "%zu", row);
        setenv("SLURM_NODEID", "0", 1);
        set(row, rank, "9");
        expect((int)row, 9);
    }
}

TEST(what_makes_no_sense_tells_nothing)
{
    static const char *const bad[][2] = {
        {"2", "2"}, {"-1", "4"}, {"", "4"},   {"1", ""},   {"1x", "4"},  {"1", "4x"},
        {"0", "0"}, {" 1", "4"}, {"1", "-4"}, {"+1", "4"}, {"0x1", "4"}, {"1", "99999999999"}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        set(0, bad[i][0], bad[i][1]);
        expect(-1, -1);
    }
    set(0, "1", "4");
    unsetenv(names[0][1]);
    expect(-1, -1);
}

/* Of each node in turn. */
static void expect_list(const char *list, const int *sizes, int nodes)
{
    for (int node = -1; node <= nodes; node++) {
        char number[16];
        snprintf(number, sizeof(number), "%d", node);
        setenv("SLURM_NODEID", number, 1);
        set(NAMES - 1, "0", list);
        if (node < 0 || node >= nodes || sizes[node] == 0)
            expect(-1, -1);
        else
            expect(0, sizes[node]);
    }
}

TEST(slurms_lists)
{
    expect_list("4(x2),3", (const int[]){4, 4, 3}, 3);
    expect_list("7", (const int[]){7}, 1);
    expect_list("1,2,3(x1),4", (const int[]){1, 2, 3, 4}, 4);
    expect_list("4(x", NULL, 0);
    expect_list("4(x0)", NULL, 0);
    expect_list("4;5", NULL, 0);
    expect_list("", NULL, 0);
    set(NAMES - 1, "0", "4");
    unsetenv("SLURM_NODEID");
    expect(-1, -1);
}

/* As a step writes it: runs of equal numbers in short. */
TEST(lists_of_any_steps)
{
    srand(7);
    for (int round = 0; round < 300; round++) {
        char list[512] = "";
        int sizes[24], nodes = 0;
        while (nodes < 20) {
            size_t used = strlen(list);
            int size = 1 + rand() % 64, times = 1 + rand() % 4;
            snprintf(list + used, sizeof(list) - used, times > 1 ? "%s%d(x%d)" : "%s%d",
                     used ? "," : "", size, times);
            for (int i = 0; i < times; i++)
                sizes[nodes++] = size;
        }
        expect_list(list, sizes, nodes);
    }
}
