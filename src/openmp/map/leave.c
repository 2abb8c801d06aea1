/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * leave.c: leaving a data environment, see maps.h: the end of target (data), target exit data.
 * Items come in reverse order: members before their structure. First all counts are taken off; then
 * what items say comes back does so from the ranges that the construct has ended. Those stay in the
 * table until it has arrived.
 */
#include "openmp/abi/location.h"
#include "openmp/map/maps.h"
#include "openmp/site/report.h"

static bool item_absent(struct work *work, const struct maps *maps, int i)
{
    struct name name = name_of(maps_name(maps, i));
    message_print("device mapping required by 'present' map type modifier does not "
                  "exist for host address 0x%016llx (%lld bytes)",
                  (unsigned long long)(uintptr_t)maps->begins[i], (long long)maps->sizes[i]);
    return report(work->where, work->site,
                  "\"%.*s\" (%lld bytes at %p) is not mapped any more, as its map clause says "
                  "\"present\"",
                  name.length, name.text, (long long)maps->sizes[i], maps->begins[i]);
}

/* In LLVM's words. `counts`: one count was taken off. */
static void info_left(const struct work *work, const struct mapped *mapped, const void *begin,
                      size_t bytes, int64_t type, bool counts)
{
    char references[24], holds[24];
    bool hold = (type & MAP_HOLD) != 0, last = !mapped_is_wanted(mapped);
    const char *action = !counts ? " (update suppressed)"
                         : last  ? " (decremented, delayed deletion)"
                                 : " (decremented)";
    info_print(work->device->number,
               "Mapping exists%s with HstPtrBegin=0x%016llx, TgtPtrBegin=0x%016llx, Size=%zu, "
               "DynRefCount=%s%s, HoldRefCount=%s%s\n",
               type & MAP_IMPLICIT ? " (implicit)" : "", (unsigned long long)(uintptr_t)begin,
               (unsigned long long)mapped_address(mapped, (uintptr_t)begin), bytes,
               count_text(mapped->references, references), hold && counts ? "" : action,
               count_text(mapped->holds, holds), hold && counts ? action : "");
}

/* What the construct takes out of the table, after all copies, as LLVM says it. */
static bool list_info_removed(struct work *work, const struct maps *maps)
{
    for (int i = maps->count - 1; i >= 0; i--) {
        struct mapped *mapped;
        if (map_is_private(maps->types[i]) || (maps->types[i] & MAP_ATTACH))
            continue;
        if (maps->mappers && maps->mappers[i]) {
            if (!mapper_run(work, maps, i, list_info_removed))
                return false;
            continue;
        }
        uintptr_t begin = (uintptr_t)maps->begins[i];
        size_t bytes = maps_bytes(maps, i);
        if (mapping_find(&work->device->space->mapping, begin, bytes, &mapped) == OVERLAP_NONE ||
            mapped->begin != begin || mapped->end != begin + bytes || mapped_is_wanted(mapped))
            continue;
        struct name name = name_of(mapped->name);
        info_print(work->device->number,
                   "Removing map entry with HstPtrBegin=0x%016llx, TgtPtrBegin=0x%016llx, "
                   "Size=%zu, Name=%.*s\n",
                   (unsigned long long)begin, (unsigned long long)mapped->device, bytes,
                   name.length, name.text);
    }
    return true;
}

/* The last one to leave makes its work see to the removal. `wanted`: before it left. */
static bool range_settle(struct work *work, struct mapped *mapped, bool wanted)
{
    if (mapped_is_wanted(mapped))
        return true;
    if (wanted)
        ompt_gives(work->device->number, mapped->device, false);
    return work_pin(work, mapped, mapped->begin, 0);
}

/* Takes one count off, or all. *times: how often it was entered by what leaves it. */
static bool range_leave(struct work *work, struct mapped *mapped, int64_t type, uint64_t *times)
{
    bool hold = (type & MAP_HOLD) != 0, all = (type & MAP_DELETE) != 0;
    bool wanted = mapped_is_wanted(mapped);
    uint64_t count = hold ? mapped->holds : mapped->references;
    *times = all && count > 0 && count != COUNT_INFINITE ? count : 1;
    mapped_leave(mapped, hold, all, work->number);
    return range_settle(work, mapped, wanted);
}

/* The way to something that leaves, as often as that does. */
static bool way_leave(struct work *work, uintptr_t begin, size_t bytes, uint64_t times)
{
    struct mapped *mapped;
    if (mapping_find(&work->device->space->mapping, begin, bytes, &mapped) != OVERLAP_INSIDE)
        return true;
    bool wanted = mapped_is_wanted(mapped);
    mapped_leave_way(mapped, times);
    return range_settle(work, mapped, wanted);
}

static bool item_leave_pointer(struct work *work, const struct maps *maps, int i, uint64_t times)
{
    return !(maps->types[i] & MAP_PTR_AND_OBJ) ||
           way_leave(work, (uintptr_t)maps->bases[i], sizeof(void *), times);
}

/* Of what it names that is mapped: an implicit range may be mapped partly. */
static bool item_bring(struct work *work, const struct maps *maps, int i, struct mapped *mapped)
{
    int64_t type = maps->types[i];
    uintptr_t begin = (uintptr_t)maps->begins[i], end = begin + maps_bytes(maps, i);
    begin = begin < mapped->begin ? mapped->begin : begin;
    end = end > mapped->end ? mapped->end : end;
    return moves_add(work, (struct move){.kind = MOVE_FROM,
                                         .always = type & MAP_ALWAYS,
                                         .constant = type & (MAP_TO | MAP_IMPLICIT),
                                         .range = mapped,
                                         .begin = begin,
                                         .bytes = end - begin});
}

/* A member's delete is its structure's: that is one range. Members come behind the structure, up to
 * the next item that neither is one nor is found through one. A descriptor is there for what it
 * points to. */
static int64_t item_type(const struct maps *maps, int i)
{
    int64_t type = maps->types[i];
    for (int each = i + 1; each < maps->count; each++) {
        bool member = maps_parent(maps, each) == i;
        bool object = (maps->types[each] & MAP_PTR_AND_OBJ) != 0;
        if (!member && (!object || each == i + 1))
            break;
        if (member && !object && !maps_lead(maps, each) && !maps_lie_around_way(maps, each))
            type |= maps->types[each] & MAP_DELETE;
    }
    return type;
}

static bool item_take_off(struct work *work, const struct maps *maps, int i, struct mapped *mapped,
                          uint64_t *times)
{
    if (maps_item_counts(maps, i))
        return range_leave(work, mapped, item_type(maps, i), times);
    bool wanted = mapped_is_wanted(mapped);
    if (!mapped_is_named(mapped)) /* as when it came */
        mapped_leave_way(mapped, *times);
    return range_settle(work, mapped, wanted);
}

static bool item_leave_object(struct work *work, const struct maps *maps, int i, uint64_t *times)
{
    int64_t type = maps->types[i];
    size_t bytes = maps_bytes(maps, i);
    uintptr_t begin = (uintptr_t)maps->begins[i];
    struct mapped *mapped = maps_entered(maps, i);
    enum overlap overlap = mapped
                               ? OVERLAP_INSIDE
                               : mapping_find(&work->device->space->mapping, begin, bytes, &mapped);
    if (overlap == OVERLAP_NONE || (overlap == OVERLAP_PARTLY && !(type & MAP_IMPLICIT)))
        return !(type & MAP_PRESENT) || item_absent(work, maps, i);
    if (!item_take_off(work, maps, i, mapped, times))
        return false;
    if (info_wants(INFO_EXISTS))
        info_left(work, mapped, (const void *)begin, bytes, type, maps_item_counts(maps, i));
    return !(type & MAP_FROM) || bytes == 0 || item_bring(work, maps, i, mapped);
}

/* *times: how often what stands behind it in the list was entered, and then the same of it. */
static bool item_leave(struct work *work, const struct maps *maps, int i, uint64_t *times)
{
    if (maps_lead(maps, i))
        return way_leave(work, (uintptr_t)maps->begins[i], maps_bytes(maps, i), *times) &&
               item_leave_pointer(work, maps, i, *times);
    if (!maps_lie_around_way(maps, i))
        *times = 1;
    return item_leave_object(work, maps, i, times) && item_leave_pointer(work, maps, i, *times);
}

static bool list_leave(struct work *work, const struct maps *maps)
{
    bool plainly = maps_go_plainly(work, maps), told = maps_are_told();
    uint64_t times = 1;
    for (int i = maps->count - 1; i >= 0; i--) {
        bool right = true;
        if (map_is_private(maps->types[i]) || (maps->types[i] & MAP_ATTACH))
            continue;
        if (plainly && maps_item_is_plain(maps, i) && plain_leave(work, maps, i))
            continue;
        if (maps->mappers && maps->mappers[i])
            right = mapper_run(work, maps, i, list_leave);
        else
            right = item_leave(work, maps, i, &times);
        if (!right || (told && !moves_issue(work)))
            return false;
    }
    return true;
}

bool maps_settle(struct work *work, const struct maps *maps)
{
    moves_begin(work);
    bool right = list_leave(work, maps);
    right = moves_issue(work) && right;
    return work_send(work) && right && (!info_wants(INFO_CHANGES) || list_info_removed(work, maps));
}
