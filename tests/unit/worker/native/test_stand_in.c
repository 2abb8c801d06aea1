/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_stand_in.c: calls of the program's addresses reach the device's functions.
 * Covers: stand_in.c */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/test.h"
#include "worker/native/stand_in.h"

static int one(void)
{
    return 1;
}

static int two(void)
{
    return 2;
}

static uint64_t address_of(int (*function)(void))
{
    uint64_t address;
    memcpy(&address, &function, sizeof(address));
    return address;
}

static int call(uint64_t address)
{
    int (*function)(void);
    memcpy(&function, &address, sizeof(function));
    return function();
}

static uint64_t place(uint64_t address, int (*function)(void))
{
    uint64_t result = 1234;
    stand_in_place((uint64_t)(uintptr_t)&result, address, address_of(function));
    return result;
}

/* Two pages that nobody has. */
static uint64_t free_pages(void)
{
    void *pages = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    munmap(pages, 8192);
    return (uint64_t)(uintptr_t)pages;
}

TEST(test_calls)
{
    uint64_t pages = free_pages();
    assert_int_equal(place(pages + 0x120, one), 0);
    assert_int_equal(place(pages + 0x130, two), 0);
    assert_int_equal(place(pages + 4096 - 5, two), 0); /* across the border */
    assert_int_equal(place(pages + 0x120, one), 0);    /* again */
    assert_int_equal(call(pages + 0x120), 1);
    assert_int_equal(call(pages + 0x130), 2);
    assert_int_equal(call(pages + 4096 - 5), 2);
    assert_int_equal(place(pages + 0x120, two), EEXIST); /* another device's */
    assert_int_equal(place(pages + 0x12a, two), EEXIST);
    assert_int_equal(call(pages + 0x120), 1);
}

TEST(test_in_use)
{
    static char mine[64];
    assert_int_equal(place((uint64_t)(uintptr_t)mine, one), EEXIST);
    assert_int_equal(mine[0], 0);
}
