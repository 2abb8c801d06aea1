/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_allocator_model.c: the allocator against a simple model that knows the owner of every
 * granule, in random steps that fill three arenas and empty them again.
 * Covers: allocator.c allocator_verify.c granules.c tlsf.c
 */
#include "tests/unit/test.h"
#include "tests/unit/host/memory/allocator_fixture.h"

enum { STEPS = 400000, MOST_BLOCKS = 6000, ARENAS = 3, MODEL_GRANULES = (9 << 20) / 64 };

/* Three arenas, two of them adjacent; owner[] goes through them in this order. */
static const struct {
    uint64_t base, bytes;
} arenas[ARENAS] = {{BASE, 4 * MIB}, {BASE + 4 * MIB, 1 * MIB}, {BASE + 64 * MIB, 4 * MIB}};

static struct {
    uint16_t owner[MODEL_GRANULES]; /* block index + 1, 0: free */
    struct {
        omprma_addr_t address;
        uint64_t bytes;
    } blocks[MOST_BLOCKS];
    size_t count;
    uint64_t refused; /* takes that got nothing */
} model;

/* Where an address stands in owner[], -1: in no arena; *left is how many granules follow. */
static int64_t model_place(omprma_addr_t address, uint64_t *left)
{
    uint64_t before = 0;
    for (int i = 0; i < ARENAS; i++) {
        uint64_t offset = address - arenas[i].base;
        if (offset < arenas[i].bytes) {
            *left = (arenas[i].bytes - offset + 63) / 64;
            return (int64_t)(before + offset / 64);
        }
        before += arenas[i].bytes / 64;
    }
    return -1;
}

static void model_mark(size_t index, uint16_t from, uint16_t to)
{
    uint64_t left = 0, bytes = model.blocks[index].bytes, address = model.blocks[index].address;
    uint64_t unit = bytes >= ALLOCATOR_LARGE ? 4096 : 64; /* padding belongs to the block */
    uint64_t granules = (address + bytes + unit - 1) / unit * unit / 64 - address / 64;
    int64_t place = model_place(address, &left);
    assert_true(place >= 0 && granules <= left);
    for (uint64_t i = 0; i < granules; i++) {
        assert_int_equal(model.owner[place + (int64_t)i], from);
        model.owner[place + (int64_t)i] = to;
    }
}

/* A take that got nothing was right if no free run was clearly large enough. */
static void model_assert_full(uint64_t bytes, struct fit fit)
{
    uint64_t enough = bytes + bytes / 16 + (fit.alignment > 64 ? 8192 : 128);
    size_t place = 0;
    for (int i = 0; i < ARENAS; i++) {
        uint64_t run = 0;
        for (uint64_t j = 0; j < arenas[i].bytes / 64; j++) {
            run = model.owner[place++] ? 0 : run + 64;
            assert_true(run < enough);
        }
    }
}

static void model_take(struct allocator *allocator)
{
    /* Sizes of all magnitudes up to 512 KiB, small ones more often. */
    uint64_t bytes = 1 + random_word() % (UINT64_C(1) << (1 + random_word() % 19));
    if (model.count == MOST_BLOCKS)
        return;
    struct fit fit = random_word() % 2 ? fit_plain(bytes) : fit_like(random_word(), bytes);
    omprma_addr_t address = allocator_take(allocator, bytes, fit);
    if (!address) {
        model_assert_full(bytes, fit);
        model.refused++;
        return;
    }
    assert_true(address % fit.alignment == fit.residue);
    model.blocks[model.count].address = address;
    model.blocks[model.count].bytes = bytes;
    model.count++;
    model_mark(model.count - 1, 0, (uint16_t)model.count);
}

static void model_give(struct allocator *allocator)
{
    if (model.count == 0)
        return;
    size_t index = random_word() % model.count, last = model.count - 1;
    model_mark(index, (uint16_t)(index + 1), 0);
    give(allocator, model.blocks[index].address, model.blocks[index].bytes);
    if (index != last) {
        model.blocks[index] = model.blocks[last];
        model_mark(index, (uint16_t)(last + 1), (uint16_t)(index + 1));
    }
    model.count--;
}

static void model_classify(struct allocator *allocator)
{
    omprma_addr_t address = BASE - 4096 + random_word() % (70 * MIB);
    if (random_word() % 2 && model.count)
        address = model.blocks[random_word() % model.count].address + random_word() % 256;
    uint64_t bytes = 1 + random_word() % (UINT64_C(1) << (random_word() % 20)), left = 0;
    enum allocator_range expected = RANGE_OUTSIDE;
    int64_t place = model_place(address, &left);
    omprma_addr_t start = 0, block = 0;
    uint64_t size = 0, block_bytes = 0;
    for (int i = 0; i < ARENAS; i++) {
        if (address < arenas[i].base + arenas[i].bytes && address + bytes > arenas[i].base)
            expected = RANGE_FREE;
    }
    if (place >= 0 && model.owner[place]) {
        block = model.blocks[model.owner[place] - 1].address;
        block_bytes = model.blocks[model.owner[place] - 1].bytes;
        if (address >= block && address + bytes <= block + block_bytes)
            expected = RANGE_LIVE;
        else if (address >= block && address < block + block_bytes)
            expected = RANGE_OVERRUN;
    }
    assert_int_equal(allocator_classify(allocator, address, bytes, &start, &size), expected);
    if (expected == RANGE_LIVE || expected == RANGE_OVERRUN)
        assert_true(start == block && size == block_bytes);
    else if (place >= 0)
        assert_int_equal(allocator_give(allocator, address, NULL), OMPRMA_ERR_ADDRESS);
}

TEST(random_steps_agree_with_the_model)
{
    struct allocator *allocator = allocator_create();
    assert_non_null(allocator);
    for (int i = ARENAS - 1; i >= 0; i--)
        assert_int_equal(allocator_add_arena(allocator, arenas[i].base, arenas[i].bytes), 0);
    for (int step = 0; step < STEPS; step++) {
        bool fill = step / 20000 % 2 == 0; /* in waves: nearly full, nearly empty */
        if (random_word() % 8 == 0)
            model_classify(allocator);
        else if (random_word() % 5 < (fill ? 3u : 2u))
            model_take(allocator);
        else
            model_give(allocator);
        if (step % 1000 == 0)
            verify(allocator);
    }
    assert_true(model.refused > 100);
    while (model.count > 0)
        model_give(allocator);
    verify(allocator);
    struct allocator_usage usage;
    allocator_usage(allocator, &usage);
    assert_true(usage.blocks == 0 && usage.used_bytes == 0 && usage.arenas == ARENAS);
    for (int i = 0; i < ARENAS; i++)
        take(allocator, 1 * MIB + (i > 0 ? 3 * MIB : 0)); /* all free blocks are whole arenas */
    allocator_destroy(allocator);
}
