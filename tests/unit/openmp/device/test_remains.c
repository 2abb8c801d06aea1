/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_remains.c: which sites have a range's value when one of three is lost, or a work fails.
 * Covers: device/remains.c
 */
#include <stdlib.h>

#include "openmp/device/remains.h"
#include "tests/unit/test.h"

enum { N = 1001, SITES = 3 };

static double x[N];
static struct site sites[SITES];
static struct mapping mapping;
static struct mapped *range;
static struct pinned pins[4];

static void given(void *owner, const struct suballoc *part)
{
    (void)owner, (void)part;
}

/* A range that these sites have, all settled. */
static void begin(uint64_t present)
{
    for (int i = 0; i < SITES; i++)
        sites[i] = (struct site){.index = i};
    mapping_init(&mapping, given, NULL);
    range = mapping_add(&mapping, (uintptr_t)x, sizeof(x), 4096, false);
    range->present = range->settled = present;
    range->name = ";x;a.c;1;1;;";
}

static void end(void)
{
    while (!LIST_EMPTY(&range->pins))
        LIST_REMOVE(LIST_FIRST(&range->pins), link);
    mapping_remove(&mapping, range);
    free(range); /* which the table, that begins anew, had kept */
}

/* A work on a site is under way, and has pinned it. */
static struct pinned *pin(int number, int site, bool writes)
{
    struct pinned *pinned = &pins[number - 1];
    *pinned = (struct pinned){
        .number = (uint64_t)number, .site = site, .mapped = range, .writes = writes};
    pinned->brings = !(mapped_present(range) >> site & 1);
    if (writes)
        remains_write(range, pinned->number);
    if (pinned->brings)
        remains_bring(range, &sites[site]);
    range->present = writes ? site_bit(&sites[site]) : range->present | site_bit(&sites[site]);
    LIST_INSERT_HEAD(&range->pins, pinned, link);
    return pinned;
}

static void over(struct pinned *pinned, bool done, bool begun)
{
    const struct remains_end how = {
        .site = &sites[pinned->site], .done = done, .begun = begun, .computes = true};
    remains_over(pinned, &how);
    LIST_REMOVE(pinned, link);
}

static void lose(int site)
{
    sites[site].settled = true;
    remains_lose(range, &sites[site]);
}

TEST(test_what_others_have_remains)
{
    begin(3);
    lose(0);
    assert_int_equal(mapped_present(range), 2);
    lose(2);
    assert_int_equal(mapped_present(range), 2);
    lose(1);
    assert_int_equal(mapped_present(range), 0);
    end();
}

TEST(test_a_writer_under_way_is_forgotten)
{
    begin(1);
    struct pinned *writer = pin(1, 1, true);
    lose(1);
    assert_int_equal(mapped_present(range), 1);
    over(writer, false, false);
    assert_int_equal(mapped_present(range), 1);
    end();
}

static void pointer_take(struct attached *pointer, void *context)
{
    *(struct attached **)context = pointer;
}

/* One that attaches a pointer and fails has not brought it there, whoever has the range. */
TEST(test_pointers_are_attached_again)
{
    struct attached *pointer = NULL;
    begin(3);
    assert_true(mapped_attach(range, (uintptr_t)&x[5], sizeof(void *), NULL));
    mapped_each_pointer(range, range->begin, range->end - range->begin, pointer_take, &pointer);
    assert_non_null(pointer);
    for (int done = 0; done < 2; done++) {
        struct pinned *attaching = pin(1, 1, true);
        attaching->points = true;
        pointer->due = false; /* it was sent */
        over(attaching, done, true);
        assert_int_equal(pointer->due, !done);
    }
    end();
}

TEST(test_what_is_over_counts)
{
    begin(1);
    over(pin(1, 1, true), true, true);
    over(pin(2, 2, false), true, true);
    struct pinned *writer = pin(3, 1, true);
    assert_int_equal(mapped_present(range), 2);
    lose(1);
    assert_int_equal(mapped_present(range), 4); /* the reader's */
    over(writer, false, false);
    over(pin(4, 2, true), true, true);
    lose(2);
    assert_int_equal(mapped_present(range), 0);
    end();
}

/* The reader of what the lost one wrote fails too; its copy is torn. */
TEST(test_copies_that_did_not_come_are_none)
{
    begin(5);
    struct pinned *writer = pin(1, 0, true), *reader = pin(2, 1, false);
    assert_int_equal(mapped_present(range), 3);
    lose(0);
    assert_int_equal(mapped_present(range), 4);
    over(reader, false, false);
    over(writer, false, false);
    assert_int_equal(mapped_present(range), 4);
    reader = pin(3, 1, false);
    over(reader, false, false);
    assert_int_equal(mapped_present(range), 4);
    end();
}

/* On a site that is well: one that could not begin has changed nothing. */
TEST(test_a_writer_that_failed_elsewhere)
{
    begin(2);
    over(pin(1, 1, true), false, false);
    assert_int_equal(mapped_present(range), 2);
    over(pin(2, 1, true), false, true);
    assert_int_equal(mapped_present(range), 0);
    end();
    begin(3);
    over(pin(1, 1, true), false, true);
    assert_int_equal(mapped_present(range), 1);
    end();
}

/* What a later one has written on top cannot be taken off again. */
TEST(test_unordered_writers)
{
    begin(1);
    struct pinned *first = pin(1, 0, true), *second = pin(2, 1, true);
    lose(0);
    assert_int_equal(mapped_present(range), 0);
    over(second, true, true);
    assert_int_equal(range->settled_by, 2); /* what is computed again has that, too */
    over(first, false, false);
    assert_int_equal(mapped_present(range), 0);
    assert_int_equal(range->settled_by, 2);
    end();
    begin(3);
    first = pin(1, 0, true), second = pin(2, 1, true);
    over(second, true, true);
    lose(0);
    assert_int_equal(mapped_present(range), 2);
    over(first, false, false);
    assert_int_equal(mapped_present(range), 0);
    end();
}

/* To compute it again, all that is done has to be in it. */
TEST(test_a_lost_range_has_the_version_of_what_is_done)
{
    begin(1);
    struct pinned *first = pin(1, 0, true), *later = pin(2, 1, true);
    lose(0);
    over(later, true, true);
    assert_int_equal(mapped_present(range), 0);
    assert_int_equal(range->settled_by, 2);
    over(first, false, true);
    assert_int_equal(range->settled_by, 2);
    end();
    begin(1);
    first = pin(1, 0, true);
    lose(0);
    over(first, true, true);
    assert_int_equal(mapped_present(range), 0);
    assert_int_equal(range->settled_by, 1);
    end();
}

TEST(test_the_program_may_have_it)
{
    struct remains_end how = {.site = &sites[0], .done = true};
    begin(1);
    assert_false(remains_at_home(range));
    struct pinned *giver = pin(1, 0, true);
    giver->given = true;
    remains_over(giver, &how);
    LIST_REMOVE(giver, link);
    assert_true(remains_at_home(range));
    for (int i = 0; i < N; i += N / 3) {
        x[i] = 1;
        assert_false(remains_at_home(range));
        x[i] = 0;
    }
    assert_true(remains_at_home(range));
    over(pin(2, 0, false), true, true);
    assert_true(remains_at_home(range));
    struct pinned *region = pin(3, 0, true);
    assert_true(remains_at_home(range)); /* while it is under way */
    over(region, true, true);
    assert_false(remains_at_home(range));
    struct pinned *back = pin(4, 0, false);
    back->retrieved = back->whole = true;
    remains_over(back, &how);
    assert_true(remains_at_home(range));
    end();
}

/* Who gives it from there attaches them as well. */
TEST(test_the_program_has_it_but_for_pointers)
{
    begin(1);
    struct pinned *giver = pin(1, 0, true);
    giver->sent = giver->given = true;
    const struct remains_end how = {.site = &sites[0], .done = true};
    remains_over(giver, &how);
    LIST_REMOVE(giver, link);
    struct pinned *points = pin(2, 0, true);
    points->points = true;
    remains_over(points, &how);
    LIST_REMOVE(points, link);
    assert_int_equal(range->settled_by, 2);
    assert_true(remains_at_home(range));
    struct pinned *writer = pin(3, 0, true);
    writer->points = true;
    over(writer, true, true); /* a region */
    assert_false(remains_at_home(range));
    points = pin(4, 0, true);
    points->points = true;
    remains_over(points, &how);
    LIST_REMOVE(points, link);
    assert_false(remains_at_home(range));
    end();
}
