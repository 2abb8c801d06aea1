/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * join.c: One process has the roles of all and decides for each: whether versions and the number of
 * applications are right, and which workers are of one host. Pure: arrays in, arrays out.
 */
#include "control/join.h"

#include <stdbool.h>
#include <string.h>

static bool same_host(const struct join_role *a, const struct join_role *b)
{
    return strncmp(a->host, b->host, sizeof(a->host)) == 0;
}

/* Lowest rank of the host of `rank`. As a rule the rank before is of the same one. */
static int find_first(const struct join_role *roles, const struct join_answer *answers, int rank)
{
    if (rank > 0 && same_host(&roles[rank - 1], &roles[rank]))
        return answers[rank - 1].first;
    for (int other = 0; other < rank; other++)
        if (answers[other].first == other && same_host(&roles[other], &roles[rank]))
            return other;
    return rank;
}

/* Counts are kept in the first answer of a host, then copied to the others. */
static void find_places(const struct join_role *roles, int size, struct join_answer *answers)
{
    for (int rank = 0; rank < size; rank++) {
        struct join_answer *first;

        answers[rank].first = find_first(roles, answers, rank);
        first = &answers[answers[rank].first];
        answers[rank].local_index = first->local_workers;
        first->local_processes++;
        first->local_workers += !roles[rank].is_head;
    }
    for (int rank = 0; rank < size; rank++) {
        answers[rank].local_processes = answers[answers[rank].first].local_processes;
        answers[rank].local_workers = answers[answers[rank].first].local_workers;
    }
}

static bool same_cpus(const struct join_cpus *a, const struct join_cpus *b)
{
    return memcmp(a->words, b->words, sizeof(a->words)) == 0;
}

static bool cpus_meet(const struct join_cpus *a, const struct join_cpus *b)
{
    for (size_t i = 0; i < sizeof(a->words) / sizeof(a->words[0]); i++)
        if (a->words[i] & b->words[i])
            return true;
    return false;
}

/* Looks at the first worker of each group of the host only. */
static void find_group(const struct join_cpus *cpus, int rank, struct join_place *places)
{
    places[rank].group = rank;
    for (int other = cpus[rank].first; other < rank; other++) {
        if (cpus[other].is_head || cpus[other].first != cpus[rank].first ||
            places[other].group != other)
            continue;
        if (same_cpus(&cpus[other], &cpus[rank])) {
            places[rank].group = other;
            return;
        }
        if (cpus_meet(&cpus[other], &cpus[rank]))
            places[other].overlaps = places[rank].overlaps = true;
    }
}

void join_places(const struct join_cpus *cpus, int size, struct join_place *places)
{
    memset(places, 0, (size_t)size * sizeof(*places));
    for (int rank = 0; rank < size; rank++) {
        if (cpus[rank].is_head)
            continue;
        find_group(cpus, rank, places);
        places[rank].index = places[places[rank].group].count++;
    }
    for (int rank = 0; rank < size; rank++) {
        places[rank].count = places[places[rank].group].count;
        places[rank].overlaps = places[places[rank].group].overlaps;
    }
}

static bool makes_a_star(const struct join_role *roles, int size, const struct join_answer *answers)
{
    int hosts = 0;
    bool wish = false;

    for (int rank = 0; rank < size; rank++) {
        wish |= roles[rank].is_head && roles[rank].star;
        hosts += answers[rank].first == rank;
    }
    return wish && hosts > 2;
}

static enum join_verdict judge(const struct join_role *roles, int size,
                               const struct join_answer *common)
{
    for (int rank = 1; rank < size; rank++)
        if (roles[rank].version != roles[0].version)
            return JOIN_VERSION;
    if (common->heads != 1)
        return JOIN_HEADS;
    if (size < 2)
        return JOIN_ALONE;
    return common->star && common->head != 0 ? JOIN_STAR_RANK : JOIN_GOES;
}

void join_decide(const struct join_role *roles, int size, struct join_answer *answers)
{
    struct join_answer common = {0};

    memset(answers, 0, (size_t)size * sizeof(*answers));
    find_places(roles, size, answers);
    for (int rank = 0; rank < size; rank++) {
        common.heads += roles[rank].is_head != 0;
        if (roles[rank].is_head)
            common.head = rank;
    }
    common.star = makes_a_star(roles, size, answers);
    common.verdict = judge(roles, size, &common);
    for (int rank = 0; rank < size; rank++) {
        answers[rank].verdict = common.verdict;
        answers[rank].heads = common.heads;
        answers[rank].head = common.head;
        answers[rank].star = common.star;
    }
}
