/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wholes.c: clauses come in any order, and clang changes it, but a part has the memory of its
 * whole. So wholes that stand behind a part of them are found first. Most lists name ranges that
 * lie one behind the other, which takes one look; others are sorted. See maps.h.
 */
#include <stdlib.h>

#include "openmp/map/maps.h"
#include "openmp/site/report.h"

/* May a range be made for it? */
static bool is_whole(const struct maps *maps, int i)
{
    const int64_t others = MAP_LITERAL | MAP_PRIVATE | MAP_ATTACH | MAP_IMPLICIT;
    return !(maps->types[i] & others) && maps->sizes[i] > 0 && !maps_lead(maps, i) &&
           maps_item_counts(maps, i) && !(maps->mappers && maps->mappers[i]);
}

/* A range of a list, and where it stands there. */
struct extent {
    uintptr_t begin;
    size_t bytes;
    int item;
};

/* By address, wholes before their parts. */
static int extent_compare(const void *a, const void *b)
{
    const struct extent *first = a, *second = b;
    if (first->begin != second->begin)
        return first->begin < second->begin ? -1 : 1;
    if (first->bytes != second->bytes)
        return first->bytes > second->bytes ? -1 : 1;
    return first->item < second->item ? -1 : first->item > second->item;
}

/* The ranges that may be made; *apart: in the order in which they lie in memory. Their number. */
static int extents_make(const struct maps *maps, struct extent *extents, bool *apart)
{
    int count = 0;
    *apart = true;
    for (int i = 0; i < maps->count; i++) {
        if (!is_whole(maps, i))
            continue;
        extents[count++] = (struct extent){(uintptr_t)maps->begins[i], maps_bytes(maps, i), i};
        *apart &= count == 1 ||
                  extents[count - 2].begin + extents[count - 2].bytes <= extents[count - 1].begin;
    }
    return count;
}

/* Those that stand behind a part of them. */
static bool extents_each(struct work *work, const struct maps *maps, const struct extent *extents,
                         int count, wholes_function *call)
{
    const struct extent *whole = extents;
    bool called = false;
    for (const struct extent *each = extents + 1; each < extents + count; each++) {
        bool inside = each->begin - whole->begin < whole->bytes &&
                      each->bytes <= whole->bytes - (each->begin - whole->begin);
        if (!inside) {
            whole = each;
            called = false;
        } else if (each->bytes < whole->bytes && each->item < whole->item && !called) {
            called = true;
            if (!call(work, maps, whole->item))
                return false;
        }
    }
    return true;
}

bool wholes_each(struct work *work, const struct maps *maps, wholes_function *call)
{
    enum { FEW = 64 };
    struct extent few[FEW], *extents = few;
    bool apart, right = true;
    if (maps->count < 2)
        return true;
    if (maps->count > FEW)
        extents = reallocarray(NULL, (size_t)maps->count, sizeof(*extents));
    if (!extents)
        return report(work->where, work->site, "no host memory for a list of maps");
    int count = extents_make(maps, extents, &apart);
    if (!apart) {
        qsort(extents, (size_t)count, sizeof(*extents), extent_compare);
        right = extents_each(work, maps, extents, count, call);
    }
    if (extents != few)
        free(extents);
    return right;
}
