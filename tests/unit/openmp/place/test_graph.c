/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_graph.c: random regions over a few ranges, in which a model follows every chain and every
 * value.
 * Covers: graph.c
 */
#include <stdlib.h>
#include <string.h>

#include "openmp/device/remains.h"
#include "openmp/place/graph.h"
#include "tests/unit/test.h"

enum { RANGES = 6, USES = 3, REGIONS = 60, ROUNDS = 300, SITES = 3, BYTES = 64 };

static struct site sites[SITES];
static struct mapped ranges[RANGES];
extern uint64_t noted_graph[3]; /* regions, the longest chain, bytes; of all rounds */
static uint64_t before[3];

/* What the model knows of a region. */
struct played {
    int count, use[USES], seat, link;
    bool writes[USES];
};

static struct played played[REGIONS];

static void begin(void)
{
    for (int i = 0; i < SITES; i++)
        sites[i].index = i;
    for (int i = 0; i < RANGES; i++) {
        const struct work entering = {.site = &sites[0]};
        ranges[i] = (struct mapped){.begin = 64, .end = 64 + BYTES};
        graph_enter(&entering, &ranges[i]);
    }
    memcpy(before, noted_graph, sizeof(before));
}

static void issue(const struct played *region, int site)
{
    struct use uses[USES];
    struct work work = {.site = &sites[site], .computes = true};
    for (int i = 0; i < region->count; i++)
        uses[i] = (struct use){.range = &ranges[region->use[i]], .writes = region->writes[i]};
    work.uses.list = uses;
    work.uses.count = (size_t)region->count;
    graph_note(&work);
}

/* The last region before the `count`th that has written the range; -1: none. */
static int writer_before(int count, int range)
{
    for (int i = count - 1; i >= 0; i--)
        for (int k = 0; k < played[i].count; k++)
            if (played[i].use[k] == range && played[i].writes[k])
                return i;
    return -1;
}

/* Which seat has the range? That of the first region that wrote it. */
static int seat_before(int count, int range)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < played[i].count; k++)
            if (played[i].use[k] == range && played[i].writes[k])
                return played[i].seat;
    return -1;
}

/* All sizes are the same, so the first range counts that is written and has a seat. */
static void model_sit(int number, int site)
{
    struct played *region = &played[number];
    region->seat = site;
    for (int k = region->count - 1; k >= 0; k--)
        if (region->writes[k] && seat_before(number, region->use[k]) >= 0)
            region->seat = seat_before(number, region->use[k]);
}

static void model_link(int number)
{
    struct played *region = &played[number];
    region->link = 1;
    for (int i = 0; i < number; i++)
        for (int k = 0; k < region->count; k++)
            for (int m = 0; m < played[i].count; m++)
                if (played[i].use[m] == region->use[k] &&
                    (played[i].writes[m] || region->writes[k]) && played[i].link >= region->link)
                    region->link = played[i].link + 1;
}

/* Had its seat the value already? The writer's has it, or the first site, and that of whoever has
 * used it since. */
static bool model_has(int number, int range)
{
    int writer = writer_before(number, range), seat = played[number].seat;
    bool has = seat == (writer < 0 ? 0 : played[writer].seat);
    for (int i = writer < 0 ? 0 : writer; i < number; i++)
        for (int k = 0; k < played[i].count; k++)
            has |= played[i].use[k] == range && played[i].seat == seat;
    return has;
}

TEST(random_graphs_as_the_model_has_them)
{
    unsigned seed = 1;
    uint64_t longest = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bytes = 0;
        begin();
        for (int number = 0; number < REGIONS; number++) {
            struct played *region = &played[number];
            int site = rand_r(&seed) % SITES, first = rand_r(&seed) % RANGES;
            *region = (struct played){.count = 1 + rand_r(&seed) % USES};
            for (int k = 0; k < region->count; k++) {
                region->use[k] = (first + k) % RANGES;
                region->writes[k] = rand_r(&seed) % 2;
            }
            model_sit(number, site);
            model_link(number);
            for (int k = 0; k < region->count; k++)
                bytes += model_has(number, region->use[k]) ? 0 : BYTES;
            issue(region, site);
            longest = (uint64_t)region->link > longest ? (uint64_t)region->link : longest;
            assert_int_equal(noted_graph[1], longest);
            assert_int_equal(noted_graph[2] - before[2], bytes);
        }
        assert_int_equal(noted_graph[0] - before[0], REGIONS);
    }
}
