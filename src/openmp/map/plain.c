/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * plain.c: the short way for what most regions map: whole variables, there, back or both, that were
 * mapped a moment ago or still are. It does what enter.c and leave.c do with far fewer
 * instructions, and where anything is out of the ordinary leaves it to them. See maps.h.
 */
#include "openmp/device/info.h"
#include "openmp/map/maps.h"
#include "openmp/site/origin.h"
#include "openmp/tool/ompt.h"

bool maps_go_plainly(const struct work *work, const struct maps *maps)
{
    return !maps->inner && !maps->mappers && !work->spared && !origin_wanted &&
           !info_wants(INFO_ANY) && !ompt_is_on();
}

/* The program said nothing about it since its last region, so its memory is there. What small
 * variables are given lies side by side, see work.h. */
static void revive(struct work *work, struct mapped *mapped)
{
    mapping_revive(&work->device->space->mapping, mapped, false);
    mapped->made_by = mapped->entered_by[false] = work->number;
    work->misplaced |= work->placed_end && !suballoc_follows(&mapped->memory, work->placed_end);
    work->placed_end = mapped->device + (mapped->end - mapped->begin);
}

bool plain_enter(struct work *work, const struct maps *maps, int i)
{
    uintptr_t begin = (uintptr_t)maps->begins[i], base = (uintptr_t)maps->bases[i];
    size_t bytes = maps_bytes(maps, i);
    struct mapped *mapped =
        mapping_exact(&work->device->space->mapping, begin, bytes, maps_entered(maps, i));
    if (!mapped || !work->spare ||
        (!mapped->vacant && (!mapped_is_named(mapped) || work_has_to_follow(work, mapped))) ||
        mapped->made_by == work->number || mapped->ways > 0 || mapped->pointed)
        return false;
    bool fills = mapped->vacant && (maps->types[i] & MAP_TO);
    if (mapped->vacant) {
        revive(work, mapped);
        mapped->base = mapping_base(base, begin);
        mapped->name = maps_name(maps, i);
    } else {
        mapped_enter(mapped, false, work->number);
    }
    work_pin(work, mapped, begin, 0);
    if (maps->entered)
        maps->entered[i] = mapped;
    return !fills || moves_add(work, (struct move){.kind = MOVE_TO,
                                                   .plain = true,
                                                   .range = mapped,
                                                   .begin = begin,
                                                   .bytes = bytes});
}

bool plain_leave(struct work *work, const struct maps *maps, int i)
{
    struct mapped *mapped = maps_entered(maps, i);
    uintptr_t begin = (uintptr_t)maps->begins[i];
    size_t bytes = maps_bytes(maps, i);
    if (!mapped || mapped->begin != begin || mapped->end - begin != bytes ||
        !work_is_alone(work, mapped))
        return false;
    mapped_leave(mapped, false, false, work->number);
    return !(maps->types[i] & MAP_FROM) ||
           moves_add(work, (struct move){.kind = MOVE_FROM,
                                         .plain = true,
                                         .constant = maps->types[i] & (MAP_TO | MAP_IMPLICIT),
                                         .range = mapped,
                                         .begin = begin,
                                         .bytes = bytes});
}
