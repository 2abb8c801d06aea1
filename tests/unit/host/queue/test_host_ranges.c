/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_host_ranges.c: memory that operations of a queue use, against a model that walks through
 * all of them for each question.
 * Covers: host_ranges.c
 */
#include <stdlib.h>

#include "tests/unit/test.h"
#include "host/queue/host_ranges.h"

enum { SPACE = 1 << 16, BEGIN = 1 << 20, MOST = 300, PARTS_MOST = 8, STEPS = 40000 };

static struct operation_pool pool;
static struct host_ranges ranges;
static struct operation *live[MOST];
static size_t count;
static uint64_t drawn = 4711; /* last */

static uint64_t below(uint64_t limit)
{
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return (drawn * UINT64_C(2685821657736338717) >> 16) % limit;
}

/* Mostly short ones. */
static uint64_t draw_range(uint64_t *bytes)
{
    *bytes = 1 + below(UINT64_C(1) << below(11));
    return BEGIN + below(SPACE - *bytes);
}

/* ---- the model ---- */

static bool meets(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static bool model_meets_one(const struct operation *o, uint64_t begin, uint64_t bytes)
{
    for (size_t i = 0; o->parts && i < o->parts->count; i++)
        if (meets((uint64_t)(uintptr_t)o->parts->part[i].to, o->parts->part[i].bytes, begin, bytes))
            return true;
    return !o->parts && meets(o->host_at, o->host_bytes, begin, bytes);
}

static bool model_meets(uint64_t begin, uint64_t bytes, bool fill)
{
    for (size_t i = 0; i < count; i++)
        if ((live[i]->fills_host || (fill && operation_has_command(live[i]))) &&
            model_meets_one(live[i], begin, bytes))
            return true;
    return false;
}

static bool check(uint64_t begin, uint64_t bytes, bool fill)
{
    bool met = model_meets(begin, bytes, fill);

    assert_int_equal(host_ranges_meet(&ranges, begin, bytes, fill), met);
    return met;
}

/* ---- operations ---- */

static struct operation *make(enum operation_kind kind)
{
    struct operation *operation = operation_take(&pool, kind);

    assert_non_null(operation);
    return operation;
}

static void add(struct operation *operation)
{
    live[count++] = operation;
    host_ranges_add(&ranges, operation);
}

/* A retrieve into parts. Seldom they meet each other or what others fill, as of two threads that
 * do not know of each other. */
static void add_read(void)
{
    struct operation *read = make(OPERATION_READ);
    struct read_parts *parts = calloc(1, sizeof(*parts) + PARTS_MOST * sizeof(parts->part[0]));
    uint64_t wanted = 1 + below(PARTS_MOST), bytes;
    bool careful = below(64) > 0;

    assert_non_null(parts);
    parts->begin = UINT64_MAX;
    read->host_bytes = 1; /* of the result, in which parts have offsets */
    read->fills_host = true;
    read->parts = parts;
    while (parts->count < wanted) {
        uint64_t begin = draw_range(&bytes);

        if (careful && (check(begin, bytes, true) || model_meets_one(read, begin, bytes))) {
            wanted--;
            continue;
        }
        parts->part[parts->count++] =
            (omprma_part_t){.to = (void *)(uintptr_t)begin, .bytes = bytes};
        parts->begin = begin < parts->begin ? begin : parts->begin;
        parts->end = begin + bytes > parts->end ? begin + bytes : parts->end;
    }
    add(read);
}

/* Put, get, or the half of a two-sided transfer. */
static void add_transfer(bool fills, bool has_command)
{
    uint64_t bytes, begin = draw_range(&bytes);
    struct operation *move;

    if (check(begin, bytes, fills))
        return;
    move = make(OPERATION_TRANSFER);
    move->host_at = begin;
    move->host_bytes = bytes;
    move->fills_host = fills;
    move->move.command = has_command ? make(OPERATION_COMMAND) : NULL;
    add(move);
}

static void remove_at(size_t i)
{
    struct operation *operation = live[i];

    host_ranges_remove(&ranges, operation);
    live[i] = live[--count];
    free(operation->parts);
    operation_drop(&pool, operation);
}

static void add_any(void)
{
    if (below(4) == 0)
        add_transfer(below(2), below(2));
    else if (below(16) == 0)
        add(make(OPERATION_COMMAND)); /* without memory */
    else
        add_read();
}

/* ---- tests ---- */

/* The queue grows and shrinks in turns: from the front, where results come, and anywhere. */
TEST(answers_as_a_walk_through_all_operations_does)
{
    uint64_t most = MOST, met = 0;

    for (int step = 0; step < STEPS; step++) {
        uint64_t bytes, begin = draw_range(&bytes);

        if (below(500) == 0)
            most = below(2) ? MOST : below(40);
        if (count < most && below(8) > 0)
            add_any();
        else if (count > 0)
            remove_at(below(2) ? 0 : below(count));
        met += check(begin, bytes, below(2));
    }
    assert_in_range(met, STEPS / 10, STEPS * 9 / 10);
    while (count > 0)
        remove_at(below(count));
    assert_int_equal(ranges.count, 0);
    assert_null(LIST_FIRST(&ranges.waiting));
    assert_null(RB_ROOT(&ranges.tree));
    assert_false(host_ranges_meet(&ranges, 0, UINT64_MAX, true));
    operation_pool_free(&pool);
}

/* One byte beside each range meets none, one byte inside does. */
TEST(knows_where_a_range_ends)
{
    enum { EACH = 64, RANGES = 100 };

    for (uint64_t i = 0; i < RANGES; i++) {
        struct operation *get = make(OPERATION_TRANSFER);

        get->host_at = BEGIN + i * EACH + 1;
        get->host_bytes = EACH - 2;
        get->fills_host = true;
        add(get);
        for (uint64_t k = 0; k <= i; k++) {
            uint64_t at = BEGIN + k * EACH;

            assert_false(host_ranges_meet(&ranges, at, 1, false));
            assert_true(host_ranges_meet(&ranges, at + 1, 1, false));
            assert_true(host_ranges_meet(&ranges, at + EACH - 2, 1, false));
            assert_false(host_ranges_meet(&ranges, at + EACH - 1, 1, false));
        }
    }
    while (count > 0)
        remove_at(0);
    operation_pool_free(&pool);
}
