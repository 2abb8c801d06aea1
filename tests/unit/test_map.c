/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_map.c: memory below other memory, also where there is a hole above. */
#include <errno.h>
#include <sys/mman.h>

#include "test.h"
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
