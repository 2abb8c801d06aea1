/*
 * leave.c: leaving a data environment, see maps.h: the end of target (data), target exit data.
 * Items come in reverse order: members before their structure. Ranges that nobody has mapped any
 * more stay in the table until what comes back from them has arrived.
 */
#include "openmp/maps.h"
#include "openmp/report.h"

static bool item_absent(struct work *work, const struct maps *maps, int i)
{
    struct name name = name_of(maps_name(maps, i));
    message_print("device mapping required by 'present' map type modifier does not "
                  "exist for host address 0x%016llx (%lld bytes)",
                  (unsigned long long)(uintptr_t)maps->begins[i], (long long)maps->sizes[i]);
    return report(work->where, work->device,
                  "\"%.*s\" (%lld bytes at %p) is not mapped any more, as its map clause says "
                  "\"present\"",
                  name.length, name.text, (long long)maps->sizes[i], maps->begins[i]);
}

/* In LLVM's words. `counts`: one count was taken off. */
static void info_left(const struct work *work, const struct mapped *mapped, const void *begin,
                      size_t bytes, int64_t type, bool counts)
{
    char references[24], holds[24];
    bool hold = (type & MAP_HOLD) != 0, last = mapped->references == 0 && mapped->holds == 0;
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
static bool list_info_removed(struct work *work, const struct maps *maps, void *context)
{
    for (int i = maps->count - 1; i >= 0; i--) {
        struct mapped *mapped;
        if (map_is_private(maps->types[i]) || (maps->types[i] & MAP_ATTACH))
            continue;
        if (maps->mappers && maps->mappers[i]) {
            if (!mapper_run(work, maps, i, list_info_removed, context))
                return false;
            continue;
        }
        uintptr_t begin = (uintptr_t)maps->begins[i];
        size_t bytes = (size_t)maps->sizes[i];
        if (mapping_find(&work->device->mapping, begin, bytes, &mapped) == OVERLAP_NONE ||
            mapped->begin != begin || mapped->end != begin + bytes || mapped->references > 0 ||
            mapped->holds > 0)
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

/* Takes one count off; the last one makes this work see to its removal. */
static bool range_leave(struct work *work, struct mapped *mapped, int64_t type)
{
    mapped_leave(mapped, (type & MAP_HOLD) != 0, (type & MAP_DELETE) != 0);
    if (mapped->references > 0 || mapped->holds > 0)
        return true;
    return work_pin(work, mapped, mapped->begin, 0);
}

static bool item_leave_pointer(struct work *work, const struct maps *maps, int i)
{
    struct mapped *pointer;
    if (!(maps->types[i] & MAP_PTR_AND_OBJ) || map_parent(maps->types[i]) >= 0 ||
        mapping_find(&work->device->mapping, (uintptr_t)maps->bases[i], sizeof(void *), &pointer) !=
            OVERLAP_INSIDE)
        return true;
    return range_leave(work, pointer, maps->types[i]);
}

/* Others that have left already may still be computing with it. */
static bool item_retrieve(struct work *work, struct mapped *mapped, uintptr_t begin, size_t bytes)
{
    uintptr_t end = begin + bytes;
    if (begin < mapped->begin) /* an implicit range that is mapped partly */
        begin = mapped->begin;
    if (end > mapped->end)
        end = mapped->end;
    return work_follow_all(work, mapped) &&
           range_retrieve(work, mapped, (void *)begin, end - begin);
}

static bool item_leave(struct work *work, const struct maps *maps, int i)
{
    int64_t type = maps->types[i];
    size_t bytes = (size_t)maps->sizes[i];
    uintptr_t begin = (uintptr_t)maps->begins[i];
    struct mapped *mapped = maps_entered(maps, i);
    bool hold = (type & MAP_HOLD) != 0, all = (type & MAP_DELETE) != 0;
    bool counts = (type & MAP_PTR_AND_OBJ) || !(map_parent(type) >= 0 || maps->inner);
    enum overlap overlap =
        mapped ? OVERLAP_INSIDE : mapping_find(&work->device->mapping, begin, bytes, &mapped);
    if (overlap == OVERLAP_NONE || (overlap == OVERLAP_PARTLY && !(type & MAP_IMPLICIT)))
        return type & MAP_PRESENT ? item_absent(work, maps, i) : item_leave_pointer(work, maps, i);
    bool back = (type & MAP_ALWAYS) || mapped_is_last(mapped, hold, all);
    if (counts && !range_leave(work, mapped, type))
        return false;
    if (info_wants(INFO_EXISTS))
        info_left(work, mapped, (const void *)begin, bytes, type, counts);
    if ((type & MAP_FROM) && back && bytes > 0 && !item_retrieve(work, mapped, begin, bytes))
        return false;
    return item_leave_pointer(work, maps, i);
}

static bool list_leave(struct work *work, const struct maps *maps, void *context)
{
    for (int i = maps->count - 1; i >= 0; i--) {
        bool right = true;
        if (map_is_private(maps->types[i]) || (maps->types[i] & MAP_ATTACH))
            continue;
        if (maps->plainly && map_is_plain(maps->types[i]) && plain_leave(work, maps, i))
            continue;
        if (maps->mappers && maps->mappers[i])
            right = mapper_run(work, maps, i, list_leave, context);
        else
            right = item_leave(work, maps, i);
        if (!right)
            return false;
    }
    return true;
}

bool maps_leave(struct work *work, const struct maps *maps)
{
    bool right = list_leave(work, maps, NULL);
    return work_send(work) && right &&
           (!info_wants(INFO_CHANGES) || list_info_removed(work, maps, NULL));
}
