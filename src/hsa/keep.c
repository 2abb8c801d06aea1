/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * keep.c: a mapping without access for each range. Variables share pages at their ends only, so
 * what is kept already is taken off the ends. Kernels that do not know MAP_FIXED_NOREPLACE
 * (before 4.17) take the address for a hint, which is as good.
 */
#define _GNU_SOURCE
#include "hsa/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* The range that an address lies in; NULL: it is not kept. */
static const struct keep_range *keep_find(const struct keep *keep, uintptr_t address)
{
    for (size_t i = 0; i < keep->count; i++)
        if (address >= keep->ranges[i].begin && address < keep->ranges[i].end)
            return &keep->ranges[i];
    return NULL;
}

static bool keep_map(uintptr_t begin, size_t bytes)
{
    void *wish = (void *)begin; // NOLINT(performance-no-int-to-ptr)
    void *at = mmap(wish, bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (at == MAP_FAILED || at == wish)
        return at == wish;
    munmap(at, bytes);
    errno = EEXIST;
    return false;
}

bool keep_add(struct keep *keep, uint64_t address, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)address & ~(page - 1);
    uintptr_t end = ((uintptr_t)address + bytes + page - 1) & ~(page - 1);
    const struct keep_range *there;
    struct keep_range *ranges;

    while (begin < end && (there = keep_find(keep, begin)) != NULL)
        begin = there->end;
    while (begin < end && (there = keep_find(keep, end - 1)) != NULL)
        end = there->begin;
    if (begin >= end)
        return true;
    ranges = realloc(keep->ranges, (keep->count + 1) * sizeof(*ranges));
    if (!ranges)
        return true;
    keep->ranges = ranges;
    if (!keep_map(begin, end - begin))
        return errno != EEXIST;
    ranges[keep->count++] = (struct keep_range){begin, end};
    return true;
}

void keep_clear(struct keep *keep)
{
    for (size_t i = 0; i < keep->count; i++)
        munmap((void *)keep->ranges[i].begin, // NOLINT(performance-no-int-to-ptr)
               keep->ranges[i].end - keep->ranges[i].begin);
    free(keep->ranges);
    *keep = (struct keep){0};
}
