/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_keep.c: addresses that variables of code on a GPU have are kept free in this process, by
 * pages, as long as the code is loaded.
 * Covers: keep.c
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "tests/unit/test.h"
#include "hsa/keep.h"

enum { PAGE = 4096, PAGES = 64, BYTES = PAGES * PAGE };

/* Addresses that nothing has but this test: what it does not use it has mapped. */
static char *addresses;

static void let_go(int page, int count)
{
    assert_int_equal(munmap(addresses + page * PAGE, (size_t)count * PAGE), 0);
}

/* Something is there: a mapping at that very address is refused. */
static bool is_kept(int page)
{
    void *at = mmap(addresses + page * PAGE, PAGE, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (at != MAP_FAILED)
        munmap(at, PAGE);
    return at == MAP_FAILED && errno == EEXIST;
}

static bool add(struct keep *keep, int at, size_t bytes)
{
    return keep_add(keep, (uint64_t)(uintptr_t)addresses + (uint64_t)at, bytes);
}

static void begin(void)
{
    addresses = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(addresses, MAP_FAILED);
}

TEST(pages_are_kept_and_let_go)
{
    struct keep keep = {0};

    begin();
    let_go(10, 4);
    assert_true(add(&keep, 10 * PAGE + 100, 1));
    assert_true(add(&keep, 10 * PAGE + 200, 8));      /* on the same page */
    assert_true(add(&keep, 12 * PAGE + 5, PAGE));     /* on two */
    assert_true(add(&keep, 11 * PAGE - 3, PAGE + 6)); /* on three, of which two are kept */
    assert_true(add(&keep, 10 * PAGE, 4 * PAGE));
    for (int page = 10; page < 14; page++)
        assert_true(is_kept(page));
    keep_clear(&keep);
    assert_false(is_kept(10));
    assert_false(is_kept(13));
    assert_int_equal(keep.count, 0);
    keep_clear(&keep); /* nothing */
    munmap(addresses, BYTES);
}

TEST(what_is_there_is_not_touched)
{
    struct keep keep = {0};

    begin();
    let_go(20, 1);
    assert_false(add(&keep, 20 * PAGE, PAGE + 1)); /* the next page is in use */
    assert_false(add(&keep, 5 * PAGE, 1));
    assert_int_equal(keep.count, 0);
    assert_true(add(&keep, 20 * PAGE + 50, 50));
    assert_int_equal(mprotect(addresses + 21 * PAGE, PAGE, PROT_READ), 0); /* it is ours still */
    keep_clear(&keep);
    assert_int_equal(mprotect(addresses + 21 * PAGE, PAGE, PROT_NONE), 0);
    munmap(addresses, BYTES);
}
