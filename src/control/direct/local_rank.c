/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* local_rank.c: the one table of variables in which launchers tell it. */
#include "control/direct/local_rank.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

/* Slurm's come last, because launchers are started by it, too; hydra says the same in two ways. */
static const struct {
    const char *rank, *size;
    const char *node; /* `size` has a list, "4(x2),3", for this one's index; NULL: a number */
} table[] = {
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", NULL},
    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", NULL},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS", NULL},
    {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE", NULL},
    {"PMI_LOCAL_RANK", "PMI_LOCAL_SIZE", NULL},
    {"JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE", NULL},
    {"SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_NODEID"},
};

/* -1: that is none. `*end` is behind it. */
static int read_number(const char *text, const char **end)
{
    char *behind;
    long value;

    *end = text;
    if (!text || *text < '0' || *text > '9')
        return -1;
    value = strtol(text, &behind, 10);
    *end = behind;
    return value <= INT_MAX ? (int)value : -1;
}

static int read_whole(const char *text)
{
    const char *end;
    int value = read_number(text, &end);

    return value >= 0 && !*end ? value : -1;
}

/* Entry `index` of "4(x2),3". */
static int read_list(const char *text, int index)
{
    const char *at = text;

    while (at && *at && index >= 0) {
        int value = read_number(at, &at), times = 1;

        if (at[0] == '(' && at[1] == 'x') {
            times = read_number(at + 2, &at);
            at += *at == ')';
        }
        if (value < 0 || times < 1 || (*at && *at != ','))
            return -1;
        if (index < times)
            return value;
        index -= times;
        at += *at == ',';
    }
    return -1;
}

struct local_rank local_rank_find(void)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int rank = read_whole(getenv(table[i].rank));
        const char *text = getenv(table[i].size);
        int size =
            table[i].node ? read_list(text, read_whole(getenv(table[i].node))) : read_whole(text);

        if (rank >= 0 && rank < size)
            return (struct local_rank){.rank = rank, .size = size, .variable = table[i].rank};
    }
    return (struct local_rank){.rank = -1, .size = -1};
}

int rank_find(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK",
                                        "MV2_COMM_WORLD_RANK",
                                        "PMI_RANK",
                                        "PALS_RANKID",
                                        "PMI_ID",
                                        "PMIX_RANK",
                                        "JSM_NAMESPACE_RANK",
                                        "SLURM_PROCID"};
    int rank = -1;

    for (size_t i = 0; rank < 0 && i < sizeof(names) / sizeof(names[0]); i++)
        rank = read_whole(getenv(names[i]));
    return rank;
}
