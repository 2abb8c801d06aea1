/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mapper.c: mappers of the program: functions that the compiler made, which push the items that a
 * structure, or an array of them, consists of. See maps.h.
 */
#include <stdlib.h>

#include "openmp/abi/exports.h"
#include "openmp/map/maps.h"
#include "openmp/site/report.h"

/* An item. LLVM's libomptarget keeps them in a std::vector, and so do programs that call the
 * functions below themselves: the layout of both is the same. */
struct component {
    void *base, *begin;
    int64_t size, type;
    void *name;
};

struct components {
    struct component *first, *end, *limit;
};

/* There was no memory for an item of the thread's mapper. */
static _Thread_local bool exhausted;

typedef void mapper_function(void *handle, void *base, void *begin, int64_t size, int64_t type,
                             void *name);

int64_t __tgt_mapper_num_components(void *handle)
{
    const struct components *all = handle;
    return all->end - all->first;
}

void __tgt_push_mapper_component(void *handle, void *base, void *begin, int64_t size, int64_t type,
                                 void *name)
{
    struct components *all = handle;
    if (all->end == all->limit) {
        size_t count = (size_t)(all->end - all->first), room = count ? 2 * count : 16;
        struct component *longer = reallocarray(all->first, room, sizeof(*longer));
        if (!longer) {
            exhausted = true;
            return;
        }
        all->first = longer;
        all->end = longer + count;
        all->limit = longer + room;
    }
    *all->end++ = (struct component){base, begin, size, type, name};
}

/* The item that item `i` is a member of; -1: none. Mappers number their items in 16 bits, of which
 * one is for "none": it stands in front of i, and no other item there has its number. Only the
 * first item and the last one of a delete, the whole array, are members of nothing. */
static int32_t parent_of(const struct components *all, size_t i)
{
    enum { NUMBERS = 0x10000 };
    size_t number = (size_t)map_parent(all->first[i].type) + 1;
    bool whole = number == 0 && &all->first[i + 1] == all->end && (all->first[i].type & MAP_DELETE);
    if (whole || i < number)
        return (int32_t)number - 1;
    return (int32_t)(number + (i - number) / NUMBERS * NUMBERS) - 1;
}

/* Flang 22 has a structure end behind the first character of its last component, where that is a
 * text. A component that begins in it lies in it as a whole. */
static void parent_widen(struct maps *maps, int i)
{
    int32_t parent = maps->parents[i];
    if (parent < 0 || parent >= i || (maps->types[i] & (MAP_PTR_AND_OBJ | MAP_ATTACH)))
        return;
    size_t offset = (size_t)((char *)maps->begins[i] - (char *)maps->begins[parent]);
    size_t end = offset + maps_bytes(maps, i), bytes = maps_bytes(maps, parent);
    if (offset < bytes && end > bytes)
        maps->sizes[parent] = (int64_t)end;
}

/* The items by columns, as constructs pass them; NULL: no memory. */
static void *columns_make(const struct components *all, struct maps *maps)
{
    enum { COLUMNS = 6 };
    size_t count = (size_t)(all->end - all->first);
    int64_t *columns = reallocarray(NULL, count + 1, COLUMNS * sizeof(*columns));
    if (!columns)
        return NULL;
    int32_t *parents = (int32_t *)(columns + 5 * count);
    maps->parents = parents;
    maps->count = (int32_t)count;
    maps->sizes = columns;
    maps->types = columns + count;
    maps->bases = (void **)(columns + 2 * count);
    maps->begins = maps->bases + count;
    maps->names = maps->begins + count;
    for (size_t i = 0; i < count; i++) {
        const struct component *each = &all->first[i];
        maps->bases[i] = each->base;
        maps->begins[i] = each->begin;
        maps->sizes[i] = each->size;
        maps->types[i] = each->type;
        maps->names[i] = each->name;
        parents[i] = parent_of(all, i);
        parent_widen(maps, (int)i);
    }
    return columns;
}

/* Clang's mappers pass on directions, and nothing else that was said of what the mapper stands for:
 * what is said of all holds for each part, but for pointers on the way to some. Only what lies in
 * the thing itself has to be present. */
static void flags_pass_on(const struct maps *made, int64_t type)
{
    for (int i = 0; i < made->count; i++) {
        if (maps_lead(made, i))
            continue;
        made->types[i] |= type & (MAP_ALWAYS | MAP_DELETE | MAP_HOLD);
        if (!(made->types[i] & MAP_PTR_AND_OBJ))
            made->types[i] |= type & MAP_PRESENT;
    }
}

bool mapper_run(struct work *work, const struct maps *maps, int i, maps_function *call)
{
    struct components all = {0};
    int64_t type = maps->types[i];
    mapper_function *mapper;
    exhausted = false;
    *(void **)&mapper = maps->mappers[i];
    mapper(&all, maps->bases[i], maps->begins[i], maps->sizes[i], type,
           maps->names ? maps->names[i] : NULL);
    /* A member's mapper is not told that its structure is mapped and counted already. */
    struct maps made = {.inner = maps->inner ||
                                 (maps_parent(maps, i) >= 0 && !(type & MAP_PTR_AND_OBJ))};
    void *columns = exhausted ? NULL : columns_make(&all, &made);
    if (columns)
        flags_pass_on(&made, type);
    bool right = columns
                     ? maps_are_valid(work, &made) && call(work, &made)
                     : report(work->where, work->site, "no host memory for the items of a mapper");
    free(columns);
    free(all.first);
    return right;
}
