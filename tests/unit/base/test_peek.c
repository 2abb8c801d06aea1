/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_peek.c: what is there is read, and what is not does no harm, also where a filter forbids the
 * quick way.
 * Covers: peek.c */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/peek.h"
#include "tests/unit/filter_fixture.h"

enum { RIGHT, NOT_READ, NOT_ALL_READ, READ_BEHIND_THE_END, NOTHING_READ };

/* A page, and none behind it. */
static int look(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char text[16] = "";

    munmap(pages + page, page);
    strcpy(pages + page - 8, "seventy");
    if (peek(pages + page - 8, text, 8) != 8 || strcmp(text, "seventy") != 0)
        return NOT_READ;
    if (peek(pages + page - 8, text, 16) != 8)
        return NOT_ALL_READ;
    if (peek(pages + page, text, 8) != 0)
        return READ_BEHIND_THE_END;
    munmap(pages, page);
    return peek(NULL, text, 8) == 0 ? RIGHT : NOTHING_READ;
}

TEST(reads_what_is_there)
{
    assert_int_equal(look(), RIGHT);
}

TEST(reads_under_a_filter)
{
    int result = filter_run(look);

    if (result == FILTER_CANNOT_BE)
        skip();
    assert_int_equal(result, RIGHT);
}
