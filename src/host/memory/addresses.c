/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * addresses.c: a mapping without access for each range (base/reserve.h).
 */
#define _GNU_SOURCE
#include "host/memory/addresses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/reserve.h"

enum { TRIES = 16, HUGE_PAGE = 2 << 20, STEP = 1 << 30 };

static bool make_room(struct addresses *addresses)
{
    int room = addresses->room ? 2 * addresses->room : 8;
    struct kept *all;

    if (addresses->count < addresses->room)
        return true;
    all = realloc(addresses->all, (size_t)room * sizeof(*all));
    if (!all)
        return false;
    addresses->all = all;
    addresses->room = room;
    return true;
}

bool addresses_keep(struct addresses *addresses, uint64_t begin, uint64_t bytes)
{
    if (!make_room(addresses) || !reserve_addresses(begin, bytes))
        return false;
    addresses->all[addresses->count++] = (struct kept){begin, bytes};
    return true;
}

uint64_t addresses_keep_below(struct addresses *addresses, uint64_t below, uint64_t bytes)
{
    const uint64_t step = bytes > STEP ? bytes : STEP;

    for (int i = 0; i < TRIES && below > bytes; i++) {
        uint64_t begin = (below - bytes) & ~(uint64_t)(HUGE_PAGE - 1);

        if (begin == 0)
            return 0;
        if (addresses_keep(addresses, begin, bytes))
            return begin;
        if (errno != EEXIST)
            return 0;
        below = below > step ? below - step : 0;
    }
    return 0;
}

uint64_t addresses_taken(uint64_t begin, uint64_t bytes, uint64_t hole, uint64_t *length)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    uint64_t first = 0, last = 0, low, high;
    char *line = NULL;
    size_t room = 0;

    while (maps && getline(&line, &room, maps) > 0) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &low, &high) != 2)
            continue;
        if (low - last >= hole) {
            if (last > begin)
                break;
            first = low;
        }
        last = high;
    }
    free(line);
    if (maps)
        fclose(maps);
    bool taken = first < begin + bytes && last > begin;
    *length = taken ? last - first : 0;
    return taken ? first : 0;
}

void addresses_release(struct addresses *addresses, uint64_t begin)
{
    for (int i = 0; i < addresses->count; i++)
        if (addresses->all[i].begin == begin) {
            munmap((void *)(uintptr_t)begin, addresses->all[i].bytes);
            addresses->all[i] = addresses->all[--addresses->count];
            return;
        }
}

uint64_t addresses_lowest(const struct addresses *addresses)
{
    uint64_t lowest = 0;

    for (int i = 0; i < addresses->count; i++)
        if (!lowest || addresses->all[i].begin < lowest)
            lowest = addresses->all[i].begin;
    return lowest;
}

void addresses_clear(struct addresses *addresses)
{
    while (addresses->count)
        addresses_release(addresses, addresses->all[0].begin);
    free(addresses->all);
    *addresses = (struct addresses){0};
}
