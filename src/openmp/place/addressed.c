/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * addressed.c: any word of what a region gets by value may be an address: those that are no
 * device's fall out by a look-up. The host's memory is looked at as far as it can be read.
 */
#include "openmp/place/addressed.h"

#include <string.h>

#include <omprma_private/memory.h>

#include "openmp/device/allocated.h"
#include "openmp/device/devices.h"
#include "openmp/device/losses.h"
#include "openmp/place/copies.h"

enum { STRUCTURE_BYTES = 4096 }; /* of a larger one nobody expects that it is by value */

/* ---- regions -------------------------------------------------------------------------------- */

struct search {
    struct space *space;
    bool (*call)(void *context, struct mapped *range);
    void *context;
};

static bool word_search(const struct search *search, uintptr_t word)
{
    bool may_be = word >> 32 != 0 && word >> 47 == 0;
    struct mapped *range = may_be ? range_of_address(search->space, word) : NULL;
    return !range || !mapped_is_wanted(range) || search->call(search->context, range);
}

static bool memory_search(const struct search *search, const char *begin, size_t bytes)
{
    uintptr_t word;
    if (bytes < sizeof(word) || omprma_memory_check(begin, bytes, false) != OMPRMA_OK)
        return true;
    for (size_t at = -(uintptr_t)begin % sizeof(word); at + sizeof(word) <= bytes;
         at += sizeof(word)) {
        memcpy(&word, begin + at, sizeof(word));
        if (!word_search(search, word))
            return false;
    }
    return true;
}

/* What is mapped has another address than its own there; what is not keeps it. */
static bool item_search(const struct search *search, const struct maps *maps, int i)
{
    int64_t type = maps->types[i];
    size_t bytes = maps_bytes(maps, i);
    if (type & MAP_LITERAL)
        return (type & MAP_PTR_AND_OBJ) || word_search(search, (uintptr_t)maps->bases[i]);
    if (type & MAP_NON_CONTIG)
        return true;
    if (bytes == 0 || (type & MAP_ATTACH))
        return word_search(search, (uintptr_t)maps->begins[i]);
    bool looks = devices_are_named() && (type & MAP_TO) &&
                 ((type & MAP_PRIVATE) || bytes <= STRUCTURE_BYTES);
    return !looks || memory_search(search, maps->begins[i], bytes);
}

bool addresses_each(struct space *space, const struct maps *maps,
                    bool (*call)(void *context, struct mapped *range), void *context)
{
    const struct search search = {space, call, context};
    for (int i = 0; i < maps->count; i++)
        if (!item_search(&search, maps, i))
            return false;
    return true;
}

/* ---- copies --------------------------------------------------------------------------------- */

static struct mapped *end_range(struct space *space, omprma_addr_t address)
{
    return address ? range_of_address(space, address) : NULL;
}

static bool site_is_better(const struct site *site, const struct site *than, bool writes)
{
    if (writes && site->load.entered != than->load.entered)
        return site->load.entered < than->load.entered;
    return site->load.under_way < than->load.under_way;
}

/* Of those that have both ends, if any: what is written anew goes to the one with the fewest bytes.
 */
struct device *ends_choose(struct device *device, const struct ends *ends)
{
    struct space *space = device->space;
    struct mapped *to = end_range(space, ends->to), *from = end_range(space, ends->from);
    uint64_t from_sites = from ? mapped_present(from) : UINT64_MAX;
    uint64_t to_sites = to ? mapped_present(to) : UINT64_MAX;
    uint64_t sites = from_sites & to_sites ? from_sites & to_sites : to_sites;
    struct device *best = NULL;
    if (!to && !from)
        return device;
    for (int i = 0; i < space->sites; i++)
        if ((sites >> i & 1) && !device_is_lost(device_of_site(i)) &&
            (!best || site_is_better(&device_of_site(i)->site, &best->site, to != NULL)))
            best = device_of_site(i);
    if (!best) /* it is lost, which is said where it is used */
        return device_living(device);
    if (to && to_sites != site_bit(&best->site))
        best->site.load.entered += to->end - to->begin;
    return best;
}

bool ends_bring(struct work *work, const struct ends *ends)
{
    struct mapped *to = end_range(work->device->space, ends->to);
    struct mapped *from = end_range(work->device->space, ends->from);
    return (!from || copies_use(work, from, false)) && (!to || copies_use(work, to, true)) &&
           copies_pin(work);
}
