/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * map.c: anonymous mappings in the worker's span or, without one, below an address. A span lies in
 * the third quarter of what Linux gives to processes: programs are loaded above it, and what they
 * map grows from both ends of the address space, in either of Linux's layouts; so do sanitizers'
 * heaps. It is used from the top down, and from the top again when its end is reached. Outside of
 * it Linux chooses the address; if it lies too high, the mapping is tried again at wishes that go
 * further down each time.
 */
#define _GNU_SOURCE
#include "worker/map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/reserve.h"

enum { FIRST_GAP = 2 << 20, HUGE_PAGE = 2 << 20, SPAN_STEPS = 4096 };

static const uintptr_t SPANS_LOW = (uintptr_t)0x3000 << 32, SPANS_HIGH = (uintptr_t)0x5000 << 32;
static const uintptr_t SPAN_UNIT = (uintptr_t)1 << 30;

static struct span {
    uintptr_t low, high; /* 0 and 0: there is none */
    uintptr_t unused;    /* nothing was mapped below this yet */
} span;

void map_keep_apart(int index, int count)
{
    uintptr_t bytes = (SPANS_HIGH - SPANS_LOW) / (uintptr_t)count / SPAN_UNIT * SPAN_UNIT;

    span.high = span.unused = SPANS_HIGH - (uintptr_t)index * bytes;
    span.low = span.high - bytes;
}

/* EEXIST: something is there. */
static void *map_at(uintptr_t wish, size_t length)
{
    void *start =
        mmap((void *)wish, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (start == MAP_FAILED || (uintptr_t)start == wish)
        return start;
    munmap(start, length);
    errno = EEXIST;
    return MAP_FAILED;
}

/* From `end` down. EEXIST: nowhere. */
static void *map_first(size_t length, uintptr_t end)
{
    size_t step = (span.high - span.low) / SPAN_STEPS;

    step = length > step ? length : step;
    for (; end >= span.low + length; end = end > step ? end - step : 0) {
        void *start = map_at(end - length, length);

        if (start != MAP_FAILED || errno != EEXIST)
            return start;
    }
    errno = EEXIST;
    return MAP_FAILED;
}

static void *map_in_span(size_t length, uintptr_t below)
{
    void *start = MAP_FAILED;

    errno = EEXIST;
    if (length > span.high - span.low)
        return start;
    start = map_first(length, below < span.unused ? below : span.unused);
    if (start == MAP_FAILED && errno == EEXIST)
        start = map_first(length, below < span.high ? below : span.high);
    if (start != MAP_FAILED && (uintptr_t)start < span.unused)
        span.unused = (uintptr_t)start;
    return start;
}

/* Linux maps from the top down but fills holes, so this rarely needs a second try. */
void *map_below(size_t length, const void *below)
{
    const uintptr_t end = below ? (uintptr_t)below : UINTPTR_MAX;
    uintptr_t wish = 0;

    if (span.high) {
        void *start = map_in_span(length, end);

        if (start != MAP_FAILED || errno != EEXIST)
            return start;
        log_write(LOG_CHOICE,
                  "the %llu GiB of addresses that are this worker's alone are in use: "
                  "its memory may have the numbers of other memory",
                  (unsigned long long)((span.high - span.low) >> 30));
    }
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

void *map_wished(size_t length, void *wish, const void *below, bool huge)
{
    uintptr_t begin = (uintptr_t)wish;
    void *start;

    errno = EEXIST;
    if (below && (begin > (uintptr_t)below || length > (uintptr_t)below - begin))
        return MAP_FAILED;
    start = map_at(begin, length);
    if (start == MAP_FAILED)
        return start;
    if (begin < span.unused && begin >= span.low)
        span.unused = begin; /* map_below() goes on below it */
    if (huge)
        madvise(start, length, MADV_HUGEPAGE);
    return start;
}

/* Those between what is there, which may be terabytes. */
static void take_holes(uintptr_t begin, uintptr_t end)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    uintptr_t low, high;
    char *line = NULL;
    size_t room = 0;

    while (maps && begin < end && getline(&line, &room, maps) > 0) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &low, &high) != 2 || high <= begin)
            continue;
        if (low > begin)
            reserve_addresses(begin, (low < end ? low : end) - begin);
        begin = high;
    }
    if (begin < end)
        reserve_addresses(begin, end - begin);
    free(line);
    if (maps)
        fclose(maps);
}

void map_nothing(uintptr_t begin, size_t length)
{
    if (!reserve_addresses(begin, length) && errno == EEXIST)
        take_holes(begin, begin + length);
}
