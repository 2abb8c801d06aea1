/*
 * mapper.c: mappers of the program: functions that the compiler made, which push the items that a
 * structure, or an array of them, consists of. See maps.h.
 */
#include <stdlib.h>

#include "openmp/exports.h"
#include "openmp/maps.h"
#include "openmp/report.h"

/* The items by columns, as constructs pass them. */
struct components {
    int64_t count, room;
    void **bases, **begins, **names;
    int64_t *sizes, *types;
    bool exhausted; /* there was no memory for one */
};

typedef void mapper_function(void *handle, void *base, void *begin, int64_t size, int64_t type,
                             void *name);

static bool column_grow(void *column, int64_t room)
{
    void **place = column;
    void *longer = reallocarray(*place, (size_t)room, sizeof(int64_t));
    if (longer)
        *place = longer;
    return longer != NULL;
}

static bool components_grow(struct components *all)
{
    int64_t room = all->room ? 2 * all->room : 16;
    if (!column_grow(&all->bases, room) || !column_grow(&all->begins, room) ||
        !column_grow(&all->names, room) || !column_grow(&all->sizes, room) ||
        !column_grow(&all->types, room))
        return false;
    all->room = room;
    return true;
}

int64_t __tgt_mapper_num_components(void *handle)
{
    return ((const struct components *)handle)->count;
}

void __tgt_push_mapper_component(void *handle, void *base, void *begin, int64_t size, int64_t type,
                                 void *name)
{
    struct components *all = handle;
    if (all->exhausted || (all->count == all->room && !components_grow(all))) {
        all->exhausted = true;
        return;
    }
    all->bases[all->count] = base;
    all->begins[all->count] = begin;
    all->sizes[all->count] = size;
    all->types[all->count] = type;
    all->names[all->count] = name;
    all->count++;
}

static void components_clear(struct components *all)
{
    free(all->bases);
    free(all->begins);
    free(all->names);
    free(all->sizes);
    free(all->types);
}

bool mapper_run(struct work *work, const struct maps *maps, int i, maps_function *call,
                void *context)
{
    struct components all = {0};
    int64_t type = maps->types[i];
    mapper_function *mapper;
    *(void **)&mapper = maps->mappers[i];
    mapper(&all, maps->bases[i], maps->begins[i], maps->sizes[i], type,
           maps->names ? maps->names[i] : NULL);
    /* A member's mapper is not told that its structure is mapped and counted already. */
    bool inner = maps->inner || (map_parent(type) >= 0 && !(type & MAP_PTR_AND_OBJ));
    struct maps made = {(int32_t)all.count, all.bases, all.begins, all.sizes,
                        all.types,          all.names, NULL,       inner};
    /* Clang's mappers do not pass on that the counts are to become none. */
    for (int64_t k = 0; k < all.count; k++)
        all.types[k] |= type & MAP_DELETE;
    bool right = all.exhausted
                     ? report(work->where, work->device, "no host memory for the items of a mapper")
                     : call(work, &made, context);
    components_clear(&all);
    return right;
}
