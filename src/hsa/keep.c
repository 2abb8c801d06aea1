/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * keep.c: a mapping without access for each range (base/reserve.h). Variables share pages at their
 * ends only, so what is kept already is taken off the ends.
 */
#define _GNU_SOURCE
#include "hsa/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/reserve.h"

/* The range that an address lies in; NULL: it is not kept. */
static const struct keep_range *keep_find(const struct keep *keep, uintptr_t address)
{
    for (size_t i = 0; i < keep->count; i++)
        if (address >= keep->ranges[i].begin && address < keep->ranges[i].end)
            return &keep->ranges[i];
    return NULL;
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
    if (!reserve_addresses(begin, end - begin))
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
