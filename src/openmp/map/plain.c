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
    mapping_revive(&work->device->mapping, mapped, false);
    mapped->made_by = mapped->entered_by[false] = work->number;
    work->misplaced |= work->placed_end && !suballoc_follows(&mapped->memory, work->placed_end);
    work->placed_end = mapped->device + (mapped->end - mapped->begin);
}

/* Nobody whom this work would have to wait for has moved its data. */
static bool is_settled(const struct work *work, const struct mapped *mapped)
{
    const struct work *writer = mapped->writer;
    return !writer || writer == work || writer->number != mapped->writer_number;
}

/* This work has pinned it, and no other has. */
static bool is_ours(const struct work *work, const struct mapped *mapped)
{
    const struct pinned *pinned = LIST_FIRST(&mapped->pins);
    return pinned && pinned->work == work && !LIST_NEXT(pinned, link);
}

bool plain_enter(struct work *work, const struct maps *maps, int i)
{
    uintptr_t begin = (uintptr_t)maps->begins[i], base = (uintptr_t)maps->bases[i];
    size_t bytes = maps_bytes(maps, i);
    struct mapped *mapped =
        mapping_exact(&work->device->mapping, begin, bytes, maps_entered(maps, i));
    if (!mapped || !work->spare || (!mapped->vacant && !is_settled(work, mapped)) ||
        mapped->made_by == work->number || mapped->ways > 0)
        return false;
    bool fills = mapped->vacant && (maps->types[i] & MAP_TO);
    if (fills && !(work->gather &&
                   gather_add(work->gather, &mapped->memory, mapped->device, (void *)begin, bytes)))
        return false;
    if (mapped->vacant) {
        revive(work, mapped);
        mapped->base = mapping_base(base, begin);
        mapped->name = maps_name(maps, i);
    } else {
        mapped_enter(mapped, false, work->number);
    }
    work_pin(work, mapped, begin, 0);
    if (fills) {
        work_write(work, mapped);
        LIST_FIRST(&mapped->pins)->given = true;
    }
    if (maps->entered)
        maps->entered[i] = mapped;
    return true;
}

bool plain_leave(struct work *work, const struct maps *maps, int i)
{
    struct mapped *mapped = maps_entered(maps, i);
    uintptr_t begin = (uintptr_t)maps->begins[i];
    size_t bytes = maps_bytes(maps, i);
    if (!mapped || mapped->begin != begin || mapped->end - begin != bytes || !is_ours(work, mapped))
        return false;
    bool last = mapped_is_last(mapped, false, false, work->number);
    if (!last && mapped->holds > 0) /* which another item may end */
        return false;
    if (last && (maps->types[i] & MAP_FROM)) {
        if (!mapped->writable || mapped_has_pointers(mapped) || !is_settled(work, mapped) ||
            !work->region || !work->scatter ||
            !scatter_add(work->scatter, &mapped->memory, (void *)begin, mapped->device, bytes))
            return false;
        work_write(work, mapped);
        LIST_FIRST(&mapped->pins)->retrieved = true;
    }
    mapped_leave(mapped, false, false, work->number);
    return true;
}
