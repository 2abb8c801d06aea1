/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * map.c: anonymous mappings below an address. Linux chooses the address; if it lies too high, the
 * mapping is tried again at wishes that go further down each time.
 */
#define _GNU_SOURCE
#include "worker/map.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

enum { FIRST_GAP = 2 << 20, HUGE_PAGE = 2 << 20 };

/* Linux maps from the top down but fills holes, so this rarely needs a second try. */
void *map_below(size_t length, const void *below)
{
    const uintptr_t end = below ? (uintptr_t)below : UINTPTR_MAX;
    uintptr_t wish = 0;

    for (size_t gap = 0; gap < end; gap = gap ? 2 * gap : FIRST_GAP) {
        void *start =
            mmap((void *)wish, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (start == MAP_FAILED || (uintptr_t)start + length <= end)
            return start;
        munmap(start, length);
        if (length > end || gap > end - length)
            break;
        wish = end - length - gap;
    }
    errno = ENOMEM;
    return MAP_FAILED;
}

/* Huge pages need aligned ends; kernels before 6.7 do not align by themselves. */
void *map_huge(size_t length, const void *below)
{
    char *start = map_below(length + HUGE_PAGE, below);
    size_t before = (size_t)(-(uintptr_t)start & (HUGE_PAGE - 1));

    if (start == MAP_FAILED)
        return start;
    if (before)
        munmap(start, before);
    start += before;
    munmap(start + length, HUGE_PAGE - before);
    madvise(start, length, MADV_HUGEPAGE);
    return start;
}
