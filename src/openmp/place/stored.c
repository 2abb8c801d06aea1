/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stored.c: the worker gets a list of places, which are what lies between attached pointers, and
 * gives back the first address that it finds. All of it is in the region's queue.
 */
#include "openmp/place/stored.h"

#include <stddef.h>

#include <omprma_private/variables.h>

#include "openmp/device/devices.h"
#include "openmp/place/end.h"
#include "openmp/run/work.h"

/* Device memory of all ranges that there ever were lies between, but for that of images. Under the
 * space's lock. */
static omprma_addr_t lowest = UINT64_MAX, highest;

/* Who makes a range pins it. */
static void ranges_note(const struct work *work)
{
    for (const struct pinned *each = work->pinned; each; each = each->next) {
        const struct mapped *mapped = each->mapped;
        omprma_addr_t end = mapped_address(mapped, mapped->end);
        if (!mapped->variable && mapped->device < lowest)
            lowest = mapped->device;
        if (!mapped->variable && end > highest)
            highest = end;
    }
}

static bool is_searched(const struct pinned *pinned)
{
    return pinned->writes && mapped_is_searched(pinned->mapped);
}

static void pointer_count(struct attached *pointer, void *context)
{
    (void)pointer;
    ++*(size_t *)context;
}

/* Most places that there may be. */
static size_t places_most(const struct work *work)
{
    size_t count = 0;
    for (const struct pinned *each = work->pinned; each; each = each->next)
        if (is_searched(each)) {
            struct mapped *mapped = each->mapped;
            mapped_each_pointer(mapped, mapped->begin, mapped->end - mapped->begin, pointer_count,
                                &count);
            count++;
        }
    return count;
}

/* What is listed so far; `next`: where the next place of the range begins on the host. */
struct places {
    omprma_variables_place_t *list;
    uint64_t count;
    const struct mapped *mapped;
    uintptr_t next;
};

static void place_add(struct places *places, uintptr_t end)
{
    const struct mapped *mapped = places->mapped;
    if (end > places->next)
        places->list[places->count++] = (omprma_variables_place_t){
            .at = mapped_address(mapped, places->next),
            .bytes = end - places->next,
            .begin = mapped->device,
            .end = mapped_address(mapped, mapped->end),
        };
}

static void pointer_pass(struct attached *pointer, void *context)
{
    struct places *places = context;
    place_add(places, pointer->pointer);
    places->next = pointer->pointer + pointer->bytes;
}

static void places_fill(const struct work *work, struct places *places)
{
    for (const struct pinned *each = work->pinned; each; each = each->next)
        if (is_searched(each)) {
            struct mapped *mapped = each->mapped;
            places->mapped = mapped;
            places->next = mapped->begin;
            mapped_each_pointer(mapped, mapped->begin, mapped->end - mapped->begin, pointer_pass,
                                places);
            place_add(places, mapped->end);
        }
}

/* What is nobody's any more leads nowhere. */
bool stored_tell(struct work *work)
{
    struct space *space = work->device->space;
    if (!work->stored)
        return true;
    pthread_mutex_lock(&space->lock);
    const struct mapped *to = mapping_of_device(&space->mapping, work->stored);
    bool leads = to && !to->vacant, own = work->stored < lowest || work->stored >= highest;
    pthread_mutex_unlock(&space->lock);
    if (own)
        return placement_end_at(work->site->index,
                                "a region keeps an address that only its worker knows, as that of "
                                "malloc() or of a function, in mapped memory");
    return !leads || placement_end("a region keeps an address of device memory in mapped memory");
}

bool stored_search(struct work *work)
{
    ranges_note(work);
    if (!work->computes || work->lost || !work->site->variables || !placement_is_on() ||
        devices_are_named())
        return true;
    size_t most = places_most(work);
    if (most == 0)
        return true;
    size_t bytes = sizeof(omprma_variables_search_t) + most * sizeof(omprma_variables_place_t);
    omprma_variables_search_t *search = work_keep(work, bytes);
    if (!search || !work_alloc(work, "a search for addresses", 0, bytes, &work->search))
        return false;
    struct places places = {.list = (void *)(search + 1)};
    places_fill(work, &places);
    *search = (omprma_variables_search_t){.low = lowest, .high = highest, .count = places.count};
    omprma_addr_t block = work->search.device;
    const uint64_t words[] = {OMPRMA_VARIABLES_SEARCH, block, 0, 0};
    return work_submit(work, block, search, bytes, NULL) &&
           work_launch(work, work->site->variables, NULL, words, 4) &&
           work_retrieve_own(work, &work->stored,
                             block + offsetof(omprma_variables_search_t, found),
                             sizeof(work->stored));
}
