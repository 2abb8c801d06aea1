/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * way.c: pointers on the way to what a clause names, see maps.h. map(to: s.all[1].p[:n]) names n
 * elements, and neither s.all nor p. Where pointers are passed by PTR_AND_OBJ (clang up to 21, and
 * mappers of 22) the list has items for these pointers as well:
 *
 * - base &s, begin &s.all, 8 bytes: the part of s where pointers lie;
 * - base &s.all, begin &s.all[1].p, 8 bytes, PTR_AND_OBJ, a member: the pointer to what was named;
 * - base &all[1].p, begin &all[1].p[0], 8 n bytes, PTR_AND_OBJ, TO: what was named;
 *
 * and map(to: rows[2][:n]) has &rows[2] with the flags of the elements, DELETE too. A pointer is to
 * be on the device while somebody needs what it points to. But when another clause has mapped the
 * memory where it lies, that is for the other clause to end: counted twice, s.all[:4] would not
 * come back when its own count is over, and a delete would take it with the elements. So what
 * leads to something else is not counted in ranges that are mapped for themselves; where nobody
 * has mapped the place, a range is made for it that counts its ways (mapping.h), and one that a
 * clause maps around it later takes its place. No flag is its own, and nothing is moved for it but
 * by attaching.
 */
#include <string.h>

#include "openmp/map/maps.h"

/* The next item's object is found through the pointer that this one is. */
static bool is_pointer_to_next(const struct maps *maps, int i)
{
    return i + 1 < maps->count && maps->sizes[i] == sizeof(void *) &&
           (maps->types[i + 1] & MAP_PTR_AND_OBJ) && maps->bases[i + 1] == maps->begins[i];
}

/* clang up to 21 has the pointer `pp` in map(pp[0]->p[:n]) as a member of *pp[0]. */
static bool is_stray_member(const struct maps *maps, int i)
{
    int parent = maps_parent(maps, i);
    if (parent < 0 || parent >= i || (maps->types[i] & MAP_PTR_AND_OBJ))
        return false;
    uintptr_t begin = (uintptr_t)maps->begins[i], whole = (uintptr_t)maps->begins[parent];
    return begin < whole || begin - whole >= maps_bytes(maps, parent);
}

/* Fortran's of an array; a part of one has no version. See flang's ISO_Fortran_binding.h. */
static bool is_descriptor(const void *begin, size_t bytes)
{
    enum { VERSION_AT = 16, VERSION = 20240719 };
    int version;
    if (bytes < VERSION_AT + sizeof(version))
        return false;
    memcpy(&version, (const char *)begin + VERSION_AT, sizeof(version));
    return version == VERSION;
}

/* Up to flang 22 the next item is the pointer at the begin of this one. */
static bool begins_with_pointer(const struct maps *maps, int i)
{
    return is_pointer_to_next(maps, i + 1) && maps->begins[i + 1] == maps->begins[i] &&
           maps_parent(maps, i + 1) == maps_parent(maps, i);
}

/* Since flang 23 the elements are next, and then the pointer is attached to them. */
static bool begins_with_attached(const struct maps *maps, int i)
{
    return i + 2 < maps->count && (maps->types[i + 2] & MAP_ATTACH) &&
           maps->bases[i + 2] == maps->begins[i] && maps->begins[i + 2] == maps->begins[i + 1];
}

/* flang has the descriptor of s%a as a member of s; the pointer in it, which is its first word,
 * leads to the elements. */
bool maps_lie_around_way(const struct maps *maps, int i)
{
    return maps_parent(maps, i) >= 0 &&
           (begins_with_pointer(maps, i) || begins_with_attached(maps, i)) &&
           is_descriptor(maps->begins[i], maps_bytes(maps, i));
}

/* A part of a structure of which nothing is named but what its pointers point to. Its members come
 * behind it, up to the next item that neither is one nor is found through one. */
static bool is_part_of_pointers(const struct maps *maps, int i)
{
    const int64_t named = MAP_TO | MAP_FROM | MAP_ALWAYS | MAP_DELETE | MAP_PTR_AND_OBJ;
    bool any = false;
    if (maps->types[i] & named)
        return false;
    for (int each = i + 1; each < maps->count; each++) {
        bool member = maps_parent(maps, each) == i;
        bool object = (maps->types[each] & MAP_PTR_AND_OBJ) != 0;
        if (!member && !object)
            break;
        if (!object && !is_pointer_to_next(maps, each) && !is_stray_member(maps, each) &&
            !maps_lie_around_way(maps, each))
            return false;
        any = any || member;
    }
    return any;
}

bool maps_lead_to_others(const struct maps *maps, int i)
{
    return is_pointer_to_next(maps, i) || is_part_of_pointers(maps, i);
}
