/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_block.c: which block an address lies in, and whose it is; blocks do not overlap.
 * Covers: driver/block.c */
#include "tests/unit/test.h"
#include "face/driver/block.h"

static char some_module, some_context;

static enum block_result add(struct blocks *blocks, omprma_addr_t address, size_t bytes,
                             void *owner, const void *part_of)
{
    return blocks_add(
        blocks,
        &(struct block){.address = address, .bytes = bytes, .owner = owner, .part_of = part_of});
}

TEST(an_address_lies_in_one)
{
    struct blocks blocks;
    struct block found;

    blocks_open(&blocks);
    assert_int_equal(add(&blocks, 1000, 100, NULL, NULL), BLOCK_ADDED);
    assert_int_equal(add(&blocks, 1100, 50, NULL, NULL), BLOCK_ADDED);
    assert_false(blocks_find(&blocks, 999, &found));
    assert_true(blocks_find(&blocks, 1099, &found));
    assert_int_equal(found.address, 1000);
    assert_true(blocks_find(&blocks, 1100, &found));
    assert_int_equal(found.bytes, 50);
    assert_false(blocks_find(&blocks, 1150, &found));
    while (blocks_take_any(&blocks, NULL, NULL, &found))
        ;
    assert_false(blocks_find(&blocks, 1000, &found));
}

TEST(none_overlap)
{
    struct blocks blocks;
    struct block found;

    blocks_open(&blocks);
    assert_int_equal(add(&blocks, 1000, 100, NULL, NULL), BLOCK_ADDED);
    assert_int_equal(add(&blocks, 1000, 100, NULL, NULL), BLOCK_OVERLAPS);
    assert_int_equal(add(&blocks, 1099, 1, NULL, NULL), BLOCK_OVERLAPS);
    assert_int_equal(add(&blocks, 999, 2, NULL, NULL), BLOCK_OVERLAPS);
    assert_int_equal(add(&blocks, 900, 500, NULL, NULL), BLOCK_OVERLAPS);
    assert_int_equal(add(&blocks, 1000, 0, NULL, NULL), BLOCK_OVERLAPS);
    assert_int_equal(add(&blocks, 900, 100, NULL, NULL), BLOCK_ADDED);
    assert_int_equal(add(&blocks, 1100, 0, NULL, NULL), BLOCK_ADDED);
    assert_int_equal(add(&blocks, 1100, 0, NULL, NULL), BLOCK_OVERLAPS);
    while (blocks_take_any(&blocks, NULL, NULL, &found))
        ;
}

/* The program frees what it allocated, by where it begins; modules and contexts take theirs along.
 */
TEST(each_goes_with_its_owner)
{
    struct blocks blocks;
    struct block found;

    blocks_open(&blocks);
    assert_int_equal(add(&blocks, 1000, 100, &some_context, NULL), BLOCK_ADDED);
    assert_int_equal(add(&blocks, 2000, 100, &some_context, NULL), BLOCK_ADDED);
    assert_int_equal(add(&blocks, 5000, 8, &some_context, &some_module), BLOCK_ADDED);
    assert_false(blocks_take(&blocks, 1001, NULL, &found));
    assert_false(blocks_take(&blocks, 5000, NULL, &found));
    assert_true(blocks_take(&blocks, 1000, NULL, &found));
    assert_int_equal(found.bytes, 100);
    assert_false(blocks_take(&blocks, 1000, NULL, &found));
    assert_false(blocks_take_any(&blocks, NULL, NULL, &found));
    assert_true(blocks_take_any(&blocks, &some_context, NULL, &found));
    assert_int_equal(found.address, 2000);
    assert_false(blocks_take_any(&blocks, &some_context, NULL, &found));
    assert_true(blocks_take_any(&blocks, &some_context, &some_module, &found));
    assert_int_equal(found.address, 5000);
    assert_false(blocks_take_any(&blocks, &some_context, &some_module, &found));
}
