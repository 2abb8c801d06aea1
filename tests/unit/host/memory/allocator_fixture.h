/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * allocator_fixture.h: what the tests of the allocator share. Included after cmocka.h; all inline,
 * for not every test uses all of it.
 */
#ifndef OMPRMA_TESTS_ALLOCATOR_FIXTURE_H
#define OMPRMA_TESTS_ALLOCATOR_FIXTURE_H

#include "host/memory/allocator.h"

#define MIB (UINT64_C(1) << 20)
#define BASE (UINT64_C(1) << 32)

static inline void verify(const struct allocator *allocator)
{
    char why[256];
    if (!allocator_verify(allocator, why, sizeof(why)))
        fail_msg("%s", why);
}

static inline struct allocator *with_arena(uint64_t bytes)
{
    struct allocator *allocator = allocator_create();
    assert_non_null(allocator);
    assert_int_equal(allocator_add_arena(allocator, BASE, bytes), OMPRMA_OK);
    return allocator;
}

static inline omprma_addr_t try_take(struct allocator *allocator, uint64_t bytes)
{
    return allocator_take(allocator, bytes, fit_plain(bytes));
}

static inline omprma_addr_t take(struct allocator *allocator, uint64_t bytes)
{
    omprma_addr_t address = try_take(allocator, bytes);
    assert_true(address != 0);
    return address;
}

static inline void give(struct allocator *allocator, omprma_addr_t address, uint64_t expected)
{
    uint64_t bytes = 0;
    assert_int_equal(allocator_give(allocator, address, &bytes), OMPRMA_OK);
    assert_true(bytes == expected);
}

static inline uint64_t random_word(void)
{
    static uint64_t word = UINT64_C(88172645463325252);
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    return word;
}

#endif
