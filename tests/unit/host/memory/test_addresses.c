/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_addresses.c: addresses that are kept free are nobody's here, and are let go of.
 * Covers: addresses.c */
#include <sys/mman.h>

#include "tests/unit/draw.h"
#include "tests/unit/test.h"
#include "host/memory/addresses.h"

enum { MIB = 1 << 20, SEED = 4711 };

enum { ROOM = 256 << 20 };

/* A free range of so many bytes, at a multiple of 64 MiB; sanitizers have much of the rest. */
static uint64_t free_range(size_t bytes)
{
    const size_t align = 64 << 20;
    void *all =
        mmap(NULL, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_true(all != MAP_FAILED);
    munmap(all, bytes + align);
    return ((uintptr_t)all + align - 1) & ~(uint64_t)(align - 1);
}

/* Whether something is there. */
static bool is_taken(uint64_t begin)
{
    void *wish = (void *)(uintptr_t)begin;
    void *start = mmap(wish, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(start != MAP_FAILED);
    munmap(start, 4096);
    return start != wish;
}

TEST(what_is_kept_is_taken)
{
    struct addresses addresses = {0};
    const uint64_t at = free_range(ROOM);

    assert_int_equal(addresses_lowest(&addresses), 0);
    assert_true(addresses_keep(&addresses, at, 4 * MIB));
    assert_true(is_taken(at) && is_taken(at + 4 * MIB - 4096));
    assert_false(is_taken(at + 4 * MIB));
    assert_false(addresses_keep(&addresses, at + MIB, MIB));
    assert_int_equal(addresses_lowest(&addresses), at);
    addresses_release(&addresses, at + MIB); /* nothing begins there */
    assert_true(is_taken(at + MIB));
    addresses_release(&addresses, at);
    assert_false(is_taken(at));
    addresses_clear(&addresses);
}

TEST(below)
{
    struct addresses addresses = {0};
    const uint64_t end = free_range(ROOM) + ROOM / 2;
    uint64_t first = addresses_keep_below(&addresses, end, 5 * MIB), second, third;
    void *programs = (void *)(uintptr_t)(first - 8 * MIB);

    assert_int_equal(first, end - 6 * MIB);
    assert_ptr_equal(mmap(programs, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), programs);
    second = addresses_keep_below(&addresses, first, 6 * MIB);
    assert_int_equal(second, first - 6 * MIB);
    third = addresses_keep_below(&addresses, second, 3 * MIB); /* the program has something there */
    assert_true(third && third < second - 4 * MIB);
    assert_int_equal(addresses_lowest(&addresses), third);
    assert_int_equal(addresses_keep_below(&addresses, MIB, MIB), 0);
    munmap(programs, 4096);
    addresses_clear(&addresses);
    assert_false(is_taken(first) || is_taken(second) || is_taken(third));
}

/* Against a model: which of some pieces are kept. */
TEST(many)
{
    enum { PIECES = 64, STEPS = 4000 };
    struct addresses addresses = {0};
    const uint64_t at = free_range(ROOM);
    bool kept[PIECES] = {false};
    int count = 0;

    struct draw seed = {SEED};
    for (int i = 0; i < STEPS; i++) {
        int piece = (int)draw_below(&seed, PIECES);
        uint64_t begin = at + (uint64_t)piece * MIB;

        if (draw_below(&seed, 2)) {
            assert_int_equal(addresses_keep(&addresses, begin, MIB), !kept[piece]);
            count += !kept[piece];
            kept[piece] = true;
        } else {
            addresses_release(&addresses, begin);
            count -= kept[piece];
            kept[piece] = false;
        }
        assert_int_equal(addresses.count, count);
    }
    addresses_clear(&addresses);
    for (int piece = 0; piece < PIECES; piece++)
        assert_false(is_taken(at + (uint64_t)piece * MIB));
}

TEST(what_is_there_is_told_with_what_lies_close)
{
    enum { HOLE = 8 * MIB };
    struct addresses addresses = {0};
    const uint64_t at = free_range(ROOM) + 16 * MIB;
    uint64_t length;

    assert_true(addresses_keep(&addresses, at, MIB));
    assert_true(addresses_keep(&addresses, at + 3 * MIB, MIB));
    assert_true(addresses_keep(&addresses, at + 20 * MIB, MIB));
    assert_int_equal(addresses_taken(at + 3 * MIB, MIB / 2, HOLE, &length), at);
    assert_int_equal(length, 4 * MIB);
    assert_int_equal(addresses_taken(at + 2 * MIB, 30 * MIB, HOLE, &length), at); /* the first */
    assert_int_equal(addresses_taken(at + 19 * MIB, 2 * MIB, HOLE, &length), at + 20 * MIB);
    assert_int_equal(length, MIB);
    assert_int_equal(addresses_taken(at + 10 * MIB, MIB, HOLE, &length), 0);
    assert_int_equal(addresses_taken(8, 8, HOLE, &length), 0);
    addresses_clear(&addresses);
}
