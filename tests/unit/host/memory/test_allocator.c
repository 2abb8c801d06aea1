/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_allocator.c: the allocator's promises, one at a time. Nothing is behind the addresses: a
 * touch of device memory crashes.
 * Covers: allocator.c granules.c tlsf.c reserve.c
 */
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/host/memory/allocator_fixture.h"
#include "base/error.h"

static void assert_refused(struct allocator *allocator, omprma_addr_t address, const char *part)
{
    assert_int_equal(allocator_give(allocator, address, NULL), OMPRMA_ERR_ADDRESS);
    if (!strstr(error_text(), part))
        fail_msg("\"%s\" does not hold \"%s\"", error_text(), part);
    verify(allocator);
}

/* ---- one promise at a time ---------------------------------------------------------------- */

TEST(blocks_are_aligned)
{
    struct allocator *allocator = with_arena(256 * MIB);
    for (uint64_t bytes = 1; bytes < 3 * ALLOCATOR_LARGE; bytes += 1 + bytes / 7) {
        uint64_t unit = bytes >= ALLOCATOR_LARGE ? ALLOCATOR_PAGE : ALLOCATOR_GRANULE;
        assert_true(take(allocator, bytes) % unit == 0);
        take(allocator, 1); /* so that the next free byte is not on a page */
    }
    assert_true(take(allocator, ALLOCATOR_LARGE) % ALLOCATOR_PAGE == 0);
    verify(allocator);
    allocator_destroy(allocator);
}

/* Takes a block that is like one with this residue, looks at it, and gives it back. */
static void check_copy(struct allocator *allocator, uint64_t bytes, uint64_t residue)
{
    struct fit fit = fit_like(7 * ALLOCATOR_PAGE + residue, bytes);
    omprma_addr_t address = allocator_take(allocator, bytes, fit), start = 0;
    uint64_t spare = bytes >= ALLOCATOR_LARGE ? ALLOCATOR_PAGE : ALLOCATOR_GRANULE, size = 0;
    struct allocator_usage usage;
    assert_true(address != 0);
    assert_true((address - residue) % (bytes < ALLOCATOR_PAGE ? 64 : 4096) == 0);
    assert_int_equal(allocator_classify(allocator, address + 1, bytes - 1, &start, &size),
                     RANGE_LIVE);
    assert_true(start == address && size == bytes);
    assert_int_not_equal(allocator_classify(allocator, address - 1, 1, NULL, NULL), RANGE_LIVE);
    assert_int_not_equal(allocator_classify(allocator, address + bytes, 1, NULL, NULL), RANGE_LIVE);
    allocator_usage(allocator, &usage);
    assert_true(usage.used_bytes < bytes + ALLOCATOR_GRANULE + spare);
    assert_int_equal(allocator_give(allocator, address + 1, NULL), OMPRMA_ERR_ADDRESS);
    assert_int_equal(allocator_give(allocator, address - 1, NULL), OMPRMA_ERR_ADDRESS);
    if (residue % 97 == 0)
        verify(allocator);
    give(allocator, address, bytes);
}

/* Each size around the limits with each residue; some in an arena that has just enough room. */
TEST(copies_are_aligned_as_the_original)
{
    static const uint64_t around[] = {3, 64, 4096, 8192, ALLOCATOR_LARGE};
    for (size_t i = 0; i < 3 * sizeof(around) / sizeof(around[0]); i++) {
        uint64_t bytes = around[i / 3] - 1 + i % 3;
        struct allocator *wide = with_arena(bytes / 4096 * 4096 + 4 * ALLOCATOR_PAGE);
        for (uint64_t residue = 0; residue < ALLOCATOR_PAGE; residue++) {
            check_copy(wide, bytes, residue);
            if (residue % 331 > 1)
                continue;
            uint64_t least = fit_like(residue, bytes).residue + bytes;
            uint64_t room = (least + ALLOCATOR_PAGE - 1) & -(uint64_t)ALLOCATOR_PAGE;
            struct allocator *narrow = with_arena(room);
            check_copy(narrow, bytes, residue);
            assert_true(take(narrow, room) == BASE);
            allocator_destroy(narrow);
        }
        allocator_destroy(wide);
    }
}

TEST(neighbours_become_one_block)
{
    enum { BLOCKS = 4096 };
    static omprma_addr_t addresses[BLOCKS];
    struct allocator *allocator = with_arena(BLOCKS * 256);
    for (int i = 0; i < BLOCKS; i++)
        addresses[i] = take(allocator, 256);
    assert_true(try_take(allocator, 1) == 0);
    for (int i = BLOCKS - 1; i > 0; i--) {
        int other = (int)(random_word() % (uint64_t)(i + 1));
        omprma_addr_t kept = addresses[i];
        addresses[i] = addresses[other];
        addresses[other] = kept;
    }
    for (int i = 0; i < BLOCKS; i++)
        give(allocator, addresses[i], 256);
    verify(allocator);
    assert_true(take(allocator, BLOCKS * 256) == BASE); /* all of it, in one piece */
    give(allocator, BASE, BLOCKS * 256);
    verify(allocator);
    allocator_destroy(allocator);
}

TEST(exact_fit_is_found)
{
    for (uint64_t bytes = 4096; bytes < 8 * MIB; bytes += 4096 * (1 + random_word() % 37)) {
        struct allocator *allocator = with_arena(bytes);
        assert_true(try_take(allocator, bytes + 1) == 0);
        assert_true(take(allocator, bytes) == BASE);
        assert_true(try_take(allocator, 1) == 0);
        allocator_destroy(allocator);
    }
}

TEST(impossible_sizes_get_nothing)
{
    struct allocator *allocator = with_arena(MIB);
    assert_true(try_take(allocator, 0) == 0);
    assert_true(try_take(allocator, MIB + 1) == 0);
    assert_true(try_take(allocator, UINT64_C(1) << 40) == 0);
    assert_true(try_take(allocator, (UINT64_C(1) << 40) + 1) == 0);
    assert_true(try_take(allocator, UINT64_MAX) == 0);
    assert_true(try_take(allocator, UINT64_MAX - 4094) == 0);
    verify(allocator);
    allocator_destroy(allocator);
    allocator = allocator_create();
    assert_true(try_take(allocator, 1) == 0);
    assert_int_equal(allocator_classify(allocator, BASE, 1, NULL, NULL), RANGE_OUTSIDE);
    allocator_destroy(allocator);
    allocator_destroy(NULL);
}

TEST(wrong_gives_are_told_apart)
{
    struct allocator *allocator = with_arena(MIB);
    omprma_addr_t one = take(allocator, 100), two = take(allocator, 1000);
    assert_refused(allocator, one + 8, "byte 8 of the block of 100 bytes");
    assert_refused(allocator, two + 64, "byte 64 of the block of 1000 bytes");
    assert_refused(allocator, two + 1023, "byte 1023 of the block of 1000 bytes");
    assert_refused(allocator, BASE + MIB - 64, "never allocated");
    assert_refused(allocator, BASE - 64, "no memory of this device");
    assert_refused(allocator, BASE + MIB, "no memory of this device");
    assert_refused(allocator, 0, "no memory of this device");
    assert_refused(allocator, UINT64_MAX, "no memory of this device");
    give(allocator, two, 1000);
    assert_refused(allocator, two, "freed before");
    assert_refused(allocator, two + 64, "never allocated");
    give(allocator, one, 100);
    assert_refused(allocator, one, "freed before");
    assert_refused(allocator, two, "freed before");
    assert_refused(allocator, one + 1, "in the same 64 bytes was freed before");
    /* A block over the old place: the old address now is inside it. */
    assert_true(take(allocator, 65 * 1024) == one);
    assert_refused(allocator, two, "of the block of 66560 bytes");
    allocator_destroy(allocator);
}

TEST(ranges_are_classified)
{
    struct allocator *allocator = with_arena(MIB);
    omprma_addr_t block = take(allocator, 1000), start = 0;
    uint64_t bytes = 0;
    assert_int_equal(allocator_classify(allocator, block, 1000, &start, &bytes), RANGE_LIVE);
    assert_true(start == block && bytes == 1000);
    assert_int_equal(allocator_classify(allocator, block + 999, 1, NULL, NULL), RANGE_LIVE);
    assert_int_equal(allocator_classify(allocator, block, 1001, NULL, NULL), RANGE_OVERRUN);
    start = bytes = 0;
    assert_int_equal(allocator_classify(allocator, block + 500, 501, &start, &bytes),
                     RANGE_OVERRUN);
    assert_true(start == block && bytes == 1000);
    assert_int_equal(allocator_classify(allocator, block + 1000, 1, NULL, NULL), RANGE_FREE);
    assert_int_equal(allocator_classify(allocator, block + 4096, 1, NULL, NULL), RANGE_FREE);
    assert_int_equal(allocator_classify(allocator, BASE + MIB - 1, 1, NULL, NULL), RANGE_FREE);
    assert_int_equal(allocator_classify(allocator, BASE + MIB, 1, NULL, NULL), RANGE_OUTSIDE);
    assert_int_equal(allocator_classify(allocator, BASE - 1, 1, NULL, NULL), RANGE_OUTSIDE);
    assert_int_equal(allocator_classify(allocator, BASE - 1, 2, NULL, NULL), RANGE_FREE);
    assert_int_equal(allocator_classify(allocator, 0, UINT64_MAX, NULL, NULL), RANGE_FREE);
    start = 1;
    assert_int_equal(allocator_classify(allocator, block + 1, UINT64_MAX, &start, &bytes),
                     RANGE_OVERRUN);
    assert_true(start == block && bytes == 1000);
    assert_int_equal(allocator_classify(allocator, UINT64_MAX, 2, &start, &bytes), RANGE_OVERRUN);
    assert_true(start == 0 && bytes == 0);
    assert_int_equal(allocator_classify(allocator, UINT64_MAX, 1, NULL, NULL), RANGE_OUTSIDE);
    give(allocator, block, 1000);
    assert_int_equal(allocator_classify(allocator, block, 1, NULL, NULL), RANGE_FREE);
    allocator_destroy(allocator);
}

TEST(usage_counts)
{
    struct allocator *allocator = with_arena(MIB);
    struct allocator_usage usage;
    omprma_addr_t one = take(allocator, 100), two = take(allocator, ALLOCATOR_LARGE + 1);
    allocator_usage(allocator, &usage);
    assert_true(usage.arenas == 1 && usage.arena_bytes == MIB && usage.blocks == 2);
    assert_true(usage.used_bytes == 128 + ALLOCATOR_LARGE + 4096);
    give(allocator, two, ALLOCATOR_LARGE + 1);
    give(allocator, one, 100);
    allocator_usage(allocator, &usage);
    assert_true(usage.blocks == 0 && usage.used_bytes == 0);
    assert_true(usage.peak_bytes == 128 + ALLOCATOR_LARGE + 4096);
    allocator_destroy(allocator);
}

/* ---- arenas ------------------------------------------------------------------------------- */

TEST(wrong_arenas_are_refused)
{
    static const struct {
        uint64_t base, bytes;
    } wrong[] = {
        {0, MIB},
        {BASE + 64, MIB},
        {BASE + MIB, 0},
        {BASE + MIB, 100},
        {BASE + MIB, (UINT64_C(1) << 40) + 4096},
        {UINT64_MAX - 4095, 8192},
        {BASE, MIB},
        {BASE - MIB, 2 * MIB},
        {BASE - 4096, 8192},
        {BASE + MIB - 4096, 8192},
        {BASE + 4096, 4096},
        {BASE - MIB, 3 * MIB},
    };
    struct allocator *allocator = with_arena(MIB);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(allocator_add_arena(allocator, wrong[i].base, wrong[i].bytes),
                         OMPRMA_ERR_ARGUMENT);
    }
    assert_int_equal(allocator_remove_arena(allocator, BASE + MIB), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(allocator_remove_arena(allocator, BASE + 4096), OMPRMA_ERR_ARGUMENT);
    take(allocator, 1);
    assert_int_equal(allocator_remove_arena(allocator, BASE), OMPRMA_ERR_ARGUMENT);
    give(allocator, BASE, 1);
    assert_int_equal(allocator_remove_arena(allocator, BASE), OMPRMA_OK);
    assert_int_equal(allocator_remove_arena(allocator, BASE), OMPRMA_ERR_ARGUMENT);
    assert_true(try_take(allocator, 1) == 0);
    verify(allocator);
    allocator_destroy(allocator);
}

TEST(no_block_spans_adjacent_arenas)
{
    struct allocator *allocator = with_arena(MIB);
    assert_int_equal(allocator_add_arena(allocator, BASE + MIB, MIB), OMPRMA_OK);
    assert_int_equal(allocator_add_arena(allocator, BASE - MIB, MIB), OMPRMA_OK);
    assert_true(try_take(allocator, MIB + 1) == 0);
    omprma_addr_t blocks[3];
    for (int i = 0; i < 3; i++)
        blocks[i] = take(allocator, MIB);
    assert_true(try_take(allocator, 1) == 0);
    assert_int_equal(allocator_classify(allocator, BASE, MIB, NULL, NULL), RANGE_LIVE);
    assert_int_equal(allocator_classify(allocator, BASE + MIB - 1, 2, NULL, NULL), RANGE_OVERRUN);
    for (int i = 0; i < 3; i++)
        give(allocator, blocks[i], MIB);
    assert_true(try_take(allocator, MIB + 1) == 0);
    verify(allocator);
    allocator_destroy(allocator);
}

TEST(sixty_four_huge_arenas)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* it leaves a program less address space than their books need */
#endif
    const uint64_t tib = UINT64_C(1) << 40;
    struct allocator *allocator = allocator_create();
    omprma_addr_t blocks[64];
    for (uint64_t i = 0; i < 64; i++) /* in an order that is not that of the addresses */
        assert_int_equal(allocator_add_arena(allocator, tib + (i * 29 % 64) * tib, tib), OMPRMA_OK);
    assert_int_equal(allocator_add_arena(allocator, 80 * tib, tib), OMPRMA_ERR_ARGUMENT);
    assert_non_null(strstr(error_text(), "64 arenas"));
    for (int i = 0; i < 64; i++)
        blocks[i] = take(allocator, tib - 4096);
    for (int i = 0; i < 64; i++)
        assert_true(take(allocator, 4096) % tib == tib - 4096);
    assert_true(try_take(allocator, 1) == 0);
    assert_int_equal(allocator_classify(allocator, 65 * tib - 1, 1, NULL, NULL), RANGE_LIVE);
    assert_int_equal(allocator_classify(allocator, tib / 2 * 5, tib / 4, NULL, NULL), RANGE_LIVE);
    verify(allocator);
    for (int i = 0; i < 64; i++)
        give(allocator, blocks[i], tib - 4096);
    verify(allocator);
    allocator_destroy(allocator);
}

TEST(empty_arenas_are_offered_but_two)
{
    struct allocator *allocator = with_arena(MIB); /* the first stays, though it is the smallest */
    uint64_t bytes = 0;
    assert_true(allocator_empty_arena(allocator, &bytes) == 0);
    assert_int_equal(allocator_add_arena(allocator, BASE + 16 * MIB, 4 * MIB), OMPRMA_OK);
    assert_true(allocator_empty_arena(allocator, &bytes) == 0); /* the largest beside it */
    assert_int_equal(allocator_add_arena(allocator, BASE + 8 * MIB, 2 * MIB), OMPRMA_OK);
    assert_true(allocator_empty_arena(allocator, &bytes) == BASE + 8 * MIB);
    assert_true(bytes == 2 * MIB);

    omprma_addr_t block = take(allocator, 4 * MIB); /* the larger is busy: the other is kept */
    assert_true(allocator_empty_arena(allocator, &bytes) == 0);
    give(allocator, block, 4 * MIB);
    assert_int_equal(allocator_add_arena(allocator, BASE + 32 * MIB, 8 * MIB), OMPRMA_OK);
    for (int i = 0; i < 2; i++) {
        omprma_addr_t base = allocator_empty_arena(allocator, &bytes);
        assert_true(base == BASE + 16 * MIB || base == BASE + 8 * MIB);
        assert_int_equal(allocator_remove_arena(allocator, base), OMPRMA_OK);
        verify(allocator);
    }
    assert_true(allocator_empty_arena(allocator, &bytes) == 0);
    take(allocator, 8 * MIB); /* the one kept is the largest */
    allocator_destroy(allocator);
}

/* ---- the host has no memory --------------------------------------------------------------- */

/* Runs `body` in a child that may not get any more memory. `used`: after a first block. */
static void assert_child(int resource, bool used, int (*body)(struct allocator *))
{
    struct allocator *allocator = with_arena(UINT64_C(1) << 36);
    if (used)
        take(allocator, 64);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit limit = {4096, 4096};
        int wrong = setrlimit(resource, &limit) ? 99 : body(allocator);
        char why[256];
        _exit(wrong ? wrong : !allocator_verify(allocator, why, sizeof(why)));
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    allocator_destroy(allocator);
}

static int take_until_nothing(struct allocator *allocator, uint64_t bytes, uint64_t least)
{
    uint64_t blocks = 0, most = (UINT64_C(1) << 36) / bytes / 2;
    omprma_addr_t last = 0, next;
    while ((next = try_take(allocator, bytes)) != 0) {
        last = next;
        if (++blocks > most)
            return 2; /* the limit had no effect */
    }
    if (blocks < least)
        return 3;
    /* What was taken can be given back, and taken again. */
    if (last && (allocator_give(allocator, last, NULL) || try_take(allocator, bytes) != last))
        return 4;
    return 0;
}

static int take_first(struct allocator *allocator)
{
    return take_until_nothing(allocator, 64, 0);
}

static int take_small(struct allocator *allocator)
{
    return take_until_nothing(allocator, 64, 1000); /* block records are used up first */
}

static int take_large(struct allocator *allocator)
{
    return take_until_nothing(allocator, 16 * MIB, 1); /* the table of pages is */
}

static int add_arena_fails(struct allocator *allocator)
{
    omprma_status_t status = allocator_add_arena(allocator, BASE / 2, MIB);
    return status == OMPRMA_ERR_HOST_MEMORY && strstr(error_text(), "host memory") ? 0 : 2;
}

TEST(removing_an_arena_leaves_the_others)
{
    enum { COUNT = 5 };
    for (unsigned gone = 0; gone < COUNT; gone++) {
        struct allocator *allocator = allocator_create();
        for (unsigned i = 0; i < COUNT; i++)
            assert_int_equal(allocator_add_arena(allocator, BASE + 2 * i * MIB, MIB), OMPRMA_OK);
        assert_int_equal(allocator_remove_arena(allocator, BASE + 2 * gone * MIB), OMPRMA_OK);
        for (unsigned i = 0; i < COUNT; i++) {
            enum allocator_range wanted = i == gone ? RANGE_OUTSIDE : RANGE_FREE;
            assert_int_equal(allocator_classify(allocator, BASE + 2 * i * MIB, 1, NULL, NULL),
                             wanted);
        }
        verify(allocator);
        allocator_destroy(allocator);
    }
}

TEST(take_without_host_memory_gives_nothing)
{
    assert_child(RLIMIT_DATA, false, take_first);
    assert_child(RLIMIT_DATA, true, take_small);
    assert_child(RLIMIT_DATA, true, take_large);
}

TEST(arena_without_host_memory_is_an_error)
{
    assert_child(RLIMIT_AS, false, add_arena_fails);
}
