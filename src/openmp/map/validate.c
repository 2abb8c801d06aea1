/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * validate.c: the first look at a list of maps, see maps.h. Those that no compiler makes are found
 * before anything is done with them, so that nothing else has to doubt them. Addresses are not
 * checked: they are the program's.
 */
#include "openmp/abi/location.h"
#include "openmp/map/maps.h"
#include "openmp/site/report.h"

/* More than any language has, of a range that is not contiguous. */
enum { DIMENSIONS_MOST = 64 };

/* Do bytes at `begin` say where memory is? See maps.h. */
static bool is_memory(int64_t type)
{
    return !(type & (MAP_LITERAL | MAP_ATTACH | MAP_NON_CONTIG));
}

static bool ends_in_memory(const struct maps *maps, int i)
{
    return maps_bytes(maps, i) <= UINTPTR_MAX - (uintptr_t)maps->begins[i];
}

/* Nothing here is what a compiler makes of a sound program: no memory ends beyond all addresses, no
 * language has so many dimensions, a copy of a pointer has its bytes, and a structure stands in the
 * list of its member. Sizes below zero, NULL and any value where no address stands are what
 * compilers make. */
static const char *item_damage(const struct maps *maps, int i)
{
    int64_t type = maps->types[i], bytes = maps->sizes[i];
    if (map_is_plain(type) && ends_in_memory(maps, i))
        return NULL;
    bool private = (type & MAP_PRIVATE) && !(type & MAP_LITERAL);
    if (type & ~MAP_KNOWN)
        return "kind of map";
    if ((type & MAP_NON_CONTIG) && bytes > DIMENSIONS_MOST)
        return "number of dimensions";
    if (is_memory(type) && !ends_in_memory(maps, i))
        return "size";
    if (private && (type & MAP_ATTACH) && bytes < (int64_t)sizeof(void *))
        return "size of a pointer";
    if (maps_parent(maps, i) >= maps->count)
        return "structure that it is a member of";
    return NULL;
}

/* Of those that may make a range: is it whole, and does it lie behind all before it? *end: theirs.
 */
static bool item_is_apart(const struct maps *maps, int i, uintptr_t *end)
{
    int64_t type = maps->types[i];
    uintptr_t begin = (uintptr_t)maps->begins[i];
    bool behind = begin >= *end, plain = map_is_plain(type);
    if ((type & (MAP_LITERAL | MAP_PRIVATE | MAP_ATTACH)) || (plain && maps->sizes[i] <= 0))
        return true;
    *end = begin + maps_bytes(maps, i);
    return behind && plain;
}

bool maps_are_valid(const struct work *work, struct maps *maps)
{
    uintptr_t end = 0;
    if (maps->count < 0)
        return report(work->where, work->site, "the program passes %d maps", maps->count);
    maps->apart = !maps->mappers;
    for (int i = 0; i < maps->count; i++) {
        const char *damage = item_damage(maps, i);
        maps->apart = maps->apart && item_is_apart(maps, i, &end);
        if (!damage)
            continue;
        struct name name = name_of(maps_name(maps, i));
        return report(work->where, work->site,
                      "the program passes an impossible %s for map %d, \"%.*s\" (size %lld at "
                      "%p, type 0x%llx): a pointer or a length in its clause is wrong, its memory "
                      "was overwritten, or another compiler made it than clang 14 to 23",
                      damage, i, name.length, name.text, (long long)maps->sizes[i], maps->begins[i],
                      (unsigned long long)maps->types[i]);
    }
    return true;
}
