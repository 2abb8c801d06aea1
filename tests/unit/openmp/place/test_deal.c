/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_deal.c: which regions are dealt out, and in which blocks.
 * Covers: deal.c
 */
#include <string.h>

#include "openmp/place/deal.h"
#include "tests/unit/test.h"

enum { SITES = 4, WIDTH = 16, FIELDS = 2 };

static struct deal deal;
static struct mapped field[FIELDS][WIDTH];

static void enter_all(void)
{
    for (int f = 0; f < FIELDS; f++)
        for (int i = 0; i < WIDTH; i++)
            deal_enter(&deal, &field[f][i]);
}

/* It writes a point of one field, and reads those beside it of the other one. Where nothing says
 * where, it goes to site `else_to`. */
static int else_to;

static int region(int point, int radius, int from)
{
    deal_region(&deal);
    deal_use(&deal, &field[1 - from][point], true);
    for (int i = point - radius; i <= point + radius; i++)
        if (i >= 0 && i < WIDTH)
            deal_use(&deal, &field[from][i], false);
    int site = deal_site(&deal, SITES);
    deal_gone(&deal, site < 0 ? else_to : site);
    return site;
}

/* The first shares with nobody yet; it belongs to the first block all the same. */
static void check_blocks(void)
{
    assert_int_equal(region(0, 1, 0), -1);
    for (int i = 1; i < WIDTH; i++) {
        int block = (region(i, 1, 0) - else_to + SITES) % SITES;
        assert_in_range(block, i * SITES / WIDTH, (2 * i + 1) * SITES / (2 * WIDTH));
    }
    else_to = (else_to + 1) % SITES;
    for (int i = 0; i < WIDTH; i++)
        assert_int_equal(region(i, 1, 1), -1);
}

TEST(test_neighbours_come_together)
{
    enter_all();
    check_blocks();
}

TEST(test_each_deal_begins_anew)
{
    enter_all();
    check_blocks();
    assert_int_equal(deal.entered, FIELDS * WIDTH);
}

TEST(test_who_shares_nothing_stays)
{
    enter_all();
    for (int i = 0; i < WIDTH; i++)
        assert_int_equal(region(i, 0, 0), -1);
}

TEST(test_few_ranges_are_not_dealt)
{
    deal_enter(&deal, &field[0][0]);
    deal_enter(&deal, &field[0][1]);
    for (int i = 0; i < 2; i++) {
        deal_region(&deal);
        deal_use(&deal, &field[0][0], false);
        assert_int_equal(deal_site(&deal, SITES), -1);
    }
}

/* A range of an earlier deal, or of none. */
TEST(test_other_data_decides_where_there_is_some)
{
    static struct mapped other;
    struct mapped *old = &field[1][0];
    enter_all();
    region(0, 1, 0);
    region(1, 1, 0);
    for (int i = 0; i < WIDTH; i++)
        deal_enter(&deal, &field[0][i]);
    for (int i = 0; i < 3; i++) {
        deal_region(&deal);
        deal_use(&deal, &field[0][3], false);
        assert_int_equal(deal_site(&deal, SITES), i > 0 ? deal.first : -1);
        deal_use(&deal, i < 2 ? old : &other, false);
        assert_int_equal(deal_site(&deal, SITES), -1);
    }
}
