/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_map.c: memory below other memory, also where there is a hole above.
 * Covers: map.c */
#include <errno.h>
#include <sys/mman.h>

#include "tests/unit/test.h"
#include "worker/map.h"

enum { BYTES = 3 << 20, TIMES = 50 };

TEST(a_hole_above_is_not_taken)
{
    char *first = map_below(BYTES, NULL), *last = first;

    assert_ptr_not_equal(first, MAP_FAILED);
    for (int i = 0; i < TIMES; i++) {
        char *above = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char *next;

        munmap(above, BYTES); /* a hole, wherever the system would map now */
        next = map_below(BYTES, last);
        assert_ptr_not_equal(next, MAP_FAILED);
        assert_true(next + BYTES <= last);
        next[0] = next[BYTES - 1] = 1;
        munmap(last, BYTES);
        last = next;
    }
    munmap(last, BYTES);
}

TEST(no_room_below)
{
    assert_ptr_equal(map_below(BYTES, (void *)(uintptr_t)4096), MAP_FAILED);
    assert_int_equal(errno, ENOMEM);
    assert_ptr_equal(map_below((size_t)1 << 60, NULL), MAP_FAILED);
}

TEST(nothing_comes_to_addresses_that_are_not_to_be_used)
{
    enum { ALL = 1 << 30, PART = 1 << 20, IN = 77 * PART };
    char *all = mmap(NULL, ALL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *part, *later;

    assert_ptr_not_equal(all, MAP_FAILED);
    munmap(all, ALL);
    part = mmap(all + IN, PART, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_equal(part, all + IN);
    part[0] = 5;
    map_nothing((uintptr_t)all, ALL);
    assert_int_equal(part[0], 5);
    munmap(part, PART); /* the only hole */
    for (size_t at = 0; at < ALL; at += PART) {
        later = mmap(all + at, PART, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_int_equal(later == all + at, at == IN);
        munmap(later, PART);
    }
    munmap(all, ALL);
    map_nothing((uintptr_t)all, (size_t)1 << 60); /* more than there is: it stays as it is */
}

/* These come last, for the span stays. */

static const uintptr_t LOW = (uintptr_t)0x3000 << 32, HIGH = (uintptr_t)0x5000 << 32;

TEST(spans_do_not_meet)
{
    enum { WORKERS = 5 };
    const uintptr_t bytes = (HIGH - LOW) / WORKERS >> 30 << 30;

    for (uintptr_t worker = 0; worker < WORKERS; worker++) {
        uintptr_t top = HIGH - worker * bytes;
        char *blocks[TIMES];

        map_keep_apart((int)worker, WORKERS);
        for (int i = 0; i < TIMES; i++) {
            blocks[i] = i % 2 ? map_huge(BYTES, NULL) : map_below(BYTES, i ? blocks[i - 1] : NULL);
            assert_in_range((uintptr_t)blocks[i], top - bytes, top - BYTES);
            blocks[i][0] = blocks[i][BYTES - 1] = 1;
        }
        for (int i = 0; i < TIMES; i++)
            munmap(blocks[i], BYTES);
    }
}

/* A span of 1 GiB: what comes and goes never leaves it, what does not fit does. */
TEST(a_span_is_used_again)
{
    enum { SPANS = 32768, LARGE = 300 << 20, FIT = 3 };
    char *blocks[FIT], *other;

    map_keep_apart(SPANS - 1, SPANS);
    for (int i = 0; i < 4 * FIT; i++) {
        char *block = map_below(LARGE, NULL);

        assert_in_range((uintptr_t)block, LOW, LOW + (1 << 30) - LARGE);
        munmap(block, LARGE);
    }
    for (int i = 0; i < FIT; i++) {
        blocks[i] = map_below(LARGE, NULL);
        assert_in_range((uintptr_t)blocks[i], LOW, LOW + (1 << 30) - LARGE);
    }
    other = map_below(LARGE, NULL);
    assert_ptr_not_equal(other, MAP_FAILED);
    assert_true((uintptr_t)other >= HIGH || (uintptr_t)other < LOW);
    munmap(other, LARGE);
    for (int i = 0; i < FIT; i++)
        munmap(blocks[i], LARGE);
}
