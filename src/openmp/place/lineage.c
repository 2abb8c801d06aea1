/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lineage.c: Regions lie in a table by the numbers of their works, where later ones take the places
 * of earlier ones. A plan follows the versions of a range back to one that it can begin with, and
 * takes in all regions on the way. What such a region has read is there in that version still, or
 * is computed again, too, from its own beginning. In the order of their numbers each then finds
 * what it found the first time.
 */
#include "openmp/place/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "openmp/device/remains.h"

enum { ANCESTORS = 4096, USES_MOST = 256 };

static struct ancestor *ancestors[ANCESTORS];

static struct ancestor *ancestor_of(uint64_t version)
{
    struct ancestor *ancestor = ancestors[version % ANCESTORS];
    return ancestor && ancestor->number == version ? ancestor : NULL;
}

/* ---- noting --------------------------------------------------------------------------------- */

/* Else it has become a part of another range, which the region has made. */
static bool is_there_still(const struct use *use)
{
    return use->range->number == use->number && !use->range->vacant;
}

static bool may_be_noted(const struct work *work)
{
    const struct uses *uses = &work->uses;
    if (!work->launched || work->lost || work->failed || work->launched->count > LINEAGE_WORDS ||
        uses->count > USES_MOST)
        return false;
    for (size_t i = 0; i < uses->count; i++)
        if (uses->list[i].range->variable || !is_there_still(&uses->list[i]))
            return false;
    return true;
}

static void ancestor_forget(struct ancestor *ancestor)
{
    if (ancestor)
        free(ancestor->own);
    free(ancestor);
}

void lineage_note(const struct work *work, const void *host_id)
{
    const omprma_region_t *region = work->launched;
    const struct uses *uses = &work->uses;
    struct own *own;
    if (!may_be_noted(work) || !own_note(work, &own))
        return;
    size_t use_bytes = uses->count * sizeof(struct ancestor_use);
    size_t word_bytes = region->count * sizeof(*region->arguments);
    struct ancestor *ancestor = malloc(sizeof(*ancestor) + use_bytes + word_bytes);
    if (!ancestor) {
        free(own);
        return;
    }
    *ancestor = (struct ancestor){.number = work->number,
                                  .host_id = host_id,
                                  .site = work->site,
                                  .geometry = *region->geometry,
                                  .context = region->context,
                                  .own = own,
                                  .count = region->count,
                                  .use_count = uses->count,
                                  .words = (uint64_t *)((char *)(ancestor + 1) + use_bytes)};
    for (size_t i = 0; i < uses->count; i++) {
        const struct use *use = &uses->list[i];
        ancestor->uses[i] =
            (struct ancestor_use){use->range, use->number, use->version, use->writes};
    }
    if (word_bytes > 0)
        memcpy(ancestor->words, region->arguments, word_bytes);
    struct ancestor **place = &ancestors[work->number % ANCESTORS];
    ancestor_forget(*place);
    *place = ancestor;
}

void lineage_done(uint64_t work)
{
    struct ancestor *ancestor = ancestor_of(work);
    if (ancestor)
        ancestor->done = true;
}

static bool is_among(const void *const *list, size_t count, const void *id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == id)
            return true;
    return false;
}

size_t lineage_regions(const void **host_ids, size_t most)
{
    size_t count = 0;
    for (int i = 0; i < ANCESTORS && count < most; i++)
        if (ancestors[i] && !is_among(host_ids, count, ancestors[i]->host_id))
            host_ids[count++] = ancestors[i]->host_id;
    return count;
}

/* ---- planning ------------------------------------------------------------------------------- */

void lineage_begin(struct lineage *lineage, struct space *space)
{
    *lineage = (struct lineage){.number = ++space->works};
}

/* One more place in a list. False: no memory. */
static bool list_grow(void **list, size_t count, size_t *room, size_t bytes)
{
    enum { FIRST = 64 };
    size_t more = *room ? 2 * *room : FIRST;
    if (count < *room)
        return true;
    void *longer = reallocarray(*list, more, bytes);
    if (!longer)
        return false;
    *list = longer;
    *room = more;
    return true;
}

static bool has_begun_anew(const struct mapped *mapped)
{
    return mapped->vacant || mapped->number == 0;
}

/* Pointers in it were attached then, or since. */
static bool begins_with_nothing(const struct mapped *mapped)
{
    return mapped->blank && !mapped_has_pointers(mapped);
}

/* The range is to be computed again. Whether the program's memory has what it begins with is looked
 * at when all else is known. */
static bool heir_want(struct lineage *lineage, struct mapped *mapped)
{
    bool home = mapped->has_digest;
    if (lineage_has(lineage, mapped))
        return true;
    if (has_begun_anew(mapped) || mapped->variable || !(home || begins_with_nothing(mapped)) ||
        !list_grow((void **)&lineage->heirs, lineage->heir_count, &lineage->heir_room,
                   sizeof(*lineage->heirs)))
        return false;
    mapped->used_by = lineage->number;
    mapped->use = lineage->heir_count;
    lineage->heirs[lineage->heir_count++] =
        (struct heir){mapped, home ? mapped->digest_of : mapped->made_by, home};
    return true;
}

static bool step_want(struct lineage *lineage, struct ancestor *ancestor)
{
    if (ancestor->plan == lineage->number)
        return true;
    if (!list_grow((void **)&lineage->steps, lineage->step_count, &lineage->step_room,
                   sizeof(ancestor)))
        return false;
    ancestor->plan = lineage->number;
    lineage->steps[lineage->step_count++] = ancestor;
    return true;
}

static const struct ancestor_use *use_in(const struct ancestor *ancestor,
                                         const struct mapped *mapped)
{
    for (size_t i = 0; i < ancestor->use_count; i++)
        if (ancestor->uses[i].range == mapped && ancestor->uses[i].number == mapped->number)
            return &ancestor->uses[i];
    return NULL;
}

/* What the region found there, but for works that have failed. */
static uint64_t version_found(const struct ancestor_use *use)
{
    const struct ancestor *ancestor = ancestor_of(use->version);
    while (ancestor && !ancestor->done) {
        const struct ancestor_use *earlier = use_in(ancestor, use->range);
        if (!earlier)
            break;
        use = earlier;
        ancestor = ancestor_of(use->version);
    }
    return use->version;
}

/* All regions that wrote it since it was what it begins with. */
static bool heir_follow(struct lineage *lineage, struct heir heir)
{
    for (uint64_t version = heir.range->settled_by; version != heir.base;) {
        struct ancestor *ancestor = version > heir.base ? ancestor_of(version) : NULL;
        const struct ancestor_use *use = ancestor ? use_in(ancestor, heir.range) : NULL;
        if (!use || !use->writes || !step_want(lineage, ancestor))
            return false;
        version = version_found(use);
    }
    return true;
}

/* What the region used is there as it was, or is to be computed again. */
static bool step_follow(struct lineage *lineage, const struct ancestor *ancestor)
{
    for (size_t i = 0; i < ancestor->use_count; i++) {
        const struct ancestor_use *use = &ancestor->uses[i];
        struct mapped *mapped = use->range;
        if (has_begun_anew(mapped) || mapped->number != use->number)
            return false;
        bool is_there = !use->writes && remains_version(mapped) == version_found(use) &&
                        (mapped_present(mapped) || remains_at_home(mapped));
        if (!is_there && !heir_want(lineage, mapped))
            return false;
    }
    return true;
}

/* When the regions before it have been done, is what it uses as it was? */
static bool step_finds(const struct lineage *lineage, const struct ancestor *ancestor)
{
    for (size_t i = 0; i < ancestor->use_count; i++) {
        const struct ancestor_use *use = &ancestor->uses[i];
        uint64_t version = version_found(use);
        if (lineage_has(lineage, use->range) &&
            (version < lineage->heirs[use->range->use].base || version > use->range->settled_by))
            return false;
    }
    return true;
}

/* All from these on; there get more of them meanwhile. */
static bool lineage_close(struct lineage *lineage, size_t first_heir, size_t first_step)
{
    size_t heir = first_heir, step = first_step;
    while (heir < lineage->heir_count || step < lineage->step_count)
        if (heir < lineage->heir_count ? !heir_follow(lineage, lineage->heirs[heir++])
                                       : !step_follow(lineage, lineage->steps[step++]))
            return false;
    for (step = first_step; step < lineage->step_count; step++)
        if (!step_finds(lineage, lineage->steps[step]))
            return false;
    for (heir = first_heir; heir < lineage->heir_count; heir++)
        if (lineage->heirs[heir].home && !remains_were_at_home(lineage->heirs[heir].range))
            return false;
    return true;
}

bool lineage_add(struct lineage *lineage, struct mapped *mapped)
{
    const size_t heirs = lineage->heir_count, steps = lineage->step_count;
    if (heir_want(lineage, mapped) && lineage_close(lineage, heirs, steps))
        return true;
    while (lineage->heir_count > heirs)
        lineage->heirs[--lineage->heir_count].range->used_by = 0;
    while (lineage->step_count > steps)
        lineage->steps[--lineage->step_count]->plan = 0;
    return false;
}

static int step_compare(const void *a, const void *b)
{
    const struct ancestor *one = *(struct ancestor *const *)a,
                          *other = *(struct ancestor *const *)b;
    return (one->number > other->number) - (one->number < other->number);
}

void lineage_sort(struct lineage *lineage)
{
    if (lineage->step_count > 0)
        qsort(lineage->steps, lineage->step_count, sizeof(*lineage->steps), step_compare);
}

void lineage_end(struct lineage *lineage)
{
    free(lineage->heirs);
    free(lineage->steps);
    *lineage = (struct lineage){0};
}
