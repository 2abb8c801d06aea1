/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_access.c: what may be done with memory, while its protection changes.
 * Covers: access.c */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/access.h"
#include "tests/unit/draw.h"

enum { PAGE = 4096, PAGES = 64, ROUNDS = 2000 };

/* The first byte of the range on a page that does not have it; `end`: there is none. */
static uint64_t first_bad(const int rights[PAGES], const char *pages, uint64_t at, uint64_t end,
                          int right)
{
    for (; at < end; at = (at / PAGE + 1) * PAGE)
        if (!(rights[(at - (uintptr_t)pages) / PAGE] & right))
            return at;
    return end;
}

static char *pages_make(void)
{
    char *pages =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(pages != MAP_FAILED);
    return pages;
}

TEST(ranges_of_pages_with_all_rights)
{
    static const int all[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
    struct draw seed = {7};
    int rights[PAGES];
    char *pages = pages_make();

    for (int i = 0; i < PAGES; i++)
        rights[i] = PROT_READ | PROT_WRITE;
    for (int round = 0; round < ROUNDS; round++) {
        /* What is no more than 64 KiB is seen as it is now. */
        size_t begin = draw_below(&seed, PAGES / 2 * PAGE),
               bytes = 1 + draw_below(&seed, 15 * PAGE);
        int changed = (int)draw_below(&seed, PAGES), write = (int)draw_below(&seed, 2);
        enum access_use use = write ? ACCESS_WRITE : ACCESS_READ;
        uint64_t at = (uintptr_t)pages + begin, bad = 0, first;
        enum access_answer answer;

        rights[changed] = all[draw_below(&seed, 8) < 6 ? 2 : draw_below(&seed, 2)];
        mprotect(pages + changed * PAGE, PAGE, rights[changed]);
        first = first_bad(rights, pages, at, at + bytes, write ? PROT_WRITE : PROT_READ);
        answer = access_look(pages + begin, bytes, use, &bad);
        assert_int_equal(answer == ACCESS_GRANTED, first == at + bytes);
        if (answer == ACCESS_GRANTED)
            continue;
        assert_int_equal(bad, first);
        assert_int_equal(answer, rights[(first - (uintptr_t)pages) / PAGE] ? ACCESS_CONSTANT
                                                                           : ACCESS_FORBIDDEN);
    }
    munmap(pages, PAGES * PAGE);
}

TEST(ends_of_large_ranges_are_seen_at_once)
{
    char *pages = pages_make();
    uint64_t bad;

    assert_int_equal(access_look(pages, PAGES * PAGE, ACCESS_WRITE, &bad), ACCESS_GRANTED);
    assert_true(access_was_granted(pages, PAGES * PAGE, ACCESS_WRITE));
    mprotect(pages + (PAGES - 1) * PAGE, PAGE, PROT_READ);
    assert_int_equal(access_look(pages, PAGES * PAGE, ACCESS_WRITE, &bad), ACCESS_CONSTANT);
    assert_int_equal(bad, (uintptr_t)pages + (PAGES - 1) * PAGE);
    assert_int_equal(access_look(pages, PAGES * PAGE, ACCESS_READ, &bad), ACCESS_GRANTED);
    munmap(pages, PAGES * PAGE);
    assert_int_equal(access_look(pages, PAGES * PAGE, ACCESS_READ, &bad), ACCESS_ABSENT);
    assert_int_equal(bad, (uintptr_t)pages);
}

/* Memory of which the file said nothing when it was read, because the program has it since then.
 * The file cannot be read any more, as in a process without room for descriptors: the kernel knows.
 */
TEST(new_memory_needs_no_file)
{
    struct rlimit few, usual;
    char *pages;
    uint64_t bad;

    access_look(NULL, 1, ACCESS_READ, &bad); /* reads it */
    pages = pages_make();
    mprotect(pages, PAGE, PROT_READ);
    getrlimit(RLIMIT_NOFILE, &usual);
    few = (struct rlimit){0, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    assert_int_equal(access_look(pages, PAGES * PAGE, ACCESS_READ, &bad), ACCESS_GRANTED);
    assert_int_equal(access_look(pages + PAGE, 15 * PAGE, ACCESS_WRITE, &bad), ACCESS_GRANTED);
    assert_true(access_was_granted(&few, sizeof(few), ACCESS_WRITE)); /* what was read is there */
    setrlimit(RLIMIT_NOFILE, &usual);
    assert_true(access_was_granted(pages, PAGES * PAGE, ACCESS_READ));
    assert_false(access_was_granted(pages, PAGES * PAGE, ACCESS_WRITE));
    munmap(pages, PAGES * PAGE);
}

TEST(pages_behind_the_end_of_a_file)
{
    int file = memfd_create("access", MFD_CLOEXEC);
    char *pages;
    uint64_t bad;

    assert_int_equal(ftruncate(file, PAGE), 0);
    pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_int_equal(access_look(pages, PAGE, ACCESS_WRITE, &bad), ACCESS_GRANTED);
    assert_int_equal(access_look(pages, PAGE + 1, ACCESS_WRITE, &bad), ACCESS_NO_PAGE);
    assert_int_equal(bad, (uintptr_t)pages + PAGE);
    assert_int_equal(access_look(pages, PAGE + 1, ACCESS_READ, &bad), ACCESS_NO_PAGE);
    munmap(pages, 2 * PAGE);
    close(file);
}

TEST(a_few_bytes)
{
    const char *constant = "constant";
    char *pages = pages_make();
    uint64_t bad;

    for (int i = 0; i < 2; i++) {
        assert_int_equal(access_look_small(pages + PAGE - 4, 8, ACCESS_WRITE, &bad),
                         ACCESS_GRANTED);
        assert_int_equal(access_look_small(constant, 1, ACCESS_READ, &bad), ACCESS_GRANTED);
        assert_int_equal(access_look_small(constant, 1, ACCESS_WRITE, &bad), ACCESS_CONSTANT);
        assert_int_equal(access_look_small(NULL, 1, ACCESS_READ, &bad), ACCESS_ABSENT);
        assert_int_equal(access_look_small(constant, 0, ACCESS_WRITE, &bad), ACCESS_GRANTED);
    }
    assert_int_equal(access_look((void *)UINTPTR_MAX, 8, ACCESS_READ, &bad), ACCESS_ABSENT);
    munmap(pages, PAGES * PAGE);
}
