/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * enter.c: entering a data environment, see maps.h: target (data), target enter data. Items come in
 * the order in which the compiler made them: a structure before its members. Pointers that are
 * attached by an item of their own (clang 22) are decided last, because whether they are depends on
 * what the whole construct has made.
 */
#include <string.h>

#include "openmp/abi/location.h"
#include "openmp/device/devices.h"
#include "openmp/device/owner.h"
#include "openmp/map/maps.h"
#include "openmp/site/report.h"

/* One range to be mapped. */
struct range {
    uintptr_t begin, base;
    size_t bytes;
    int64_t type;
    bool counts; /* else it is a way, see way.c: members rely on their structure's count */
    const char *name;
};

static void info_entered(const struct work *work, const struct mapped *mapped,
                         const struct range *range, bool made)
{
    char references[24], holds[24];
    if (!info_wants(made ? INFO_CHANGES : INFO_EXISTS))
        return;
    struct name name = name_of(range->name);
    const char *counts = count_text(mapped->references, references);
    const char *held = count_text(mapped->holds, holds);
    if (made)
        info_print(work->device->number,
                   "Creating new map entry with HstPtrBase=0x%016llx, HstPtrBegin=0x%016llx, "
                   "TgtAllocBegin=0x%016llx, TgtPtrBegin=0x%016llx, Size=%zu, DynRefCount=%s, "
                   "HoldRefCount=%s, Name=%.*s\n",
                   (unsigned long long)range->base, (unsigned long long)range->begin,
                   (unsigned long long)mapped->memory.begin, (unsigned long long)mapped->device,
                   range->bytes, counts, held, name.length, name.text);
    else
        info_print(
            work->device->number,
            "Mapping exists%s with HstPtrBegin=0x%016llx, TgtPtrBegin=0x%016llx, Size=%zu, "
            "DynRefCount=%s (%s), HoldRefCount=%s, Name=%.*s\n",
            range->type & MAP_IMPLICIT ? " (implicit)" : "", (unsigned long long)range->begin,
            (unsigned long long)mapped_address(mapped, range->begin), range->bytes, counts,
            range->counts ? "incremented" : "update suppressed", held, name.length, name.text);
}

/* ---- ranges --------------------------------------------------------------------------------- */

static bool range_absent(struct work *work, const struct range *range)
{
    struct name name = name_of(range->name);
    message_print("device mapping required by 'present' map type modifier does not "
                  "exist for host address 0x%016llx (%zu bytes)",
                  (unsigned long long)range->begin, range->bytes);
    report(work->where, work->site,
           "\"%.*s\" (%zu bytes at %p) is not mapped, as its map clause says \"present\"; "
           "map it before",
           name.length, name.text, range->bytes, (void *)range->begin);
    echo_print("Call to getTargetPointer returned null pointer ('present' map type modifier).");
    return false;
}

static bool range_impossible(void)
{
    echo_print("Call to getTargetPointer returned null pointer (device failure or illegal "
               "mapping).");
    return false;
}

static bool range_overlaps(struct work *work, const struct range *range, const struct mapped *other)
{
    struct name name = name_of(range->name), old = name_of(other->name);
    message_print(
        "explicit extension not allowed: host address specified is "
        "0x%016llx (%zu bytes), but device allocation maps to host at 0x%016llx (%zu bytes)",
        (unsigned long long)range->begin, range->bytes, (unsigned long long)other->begin,
        (size_t)(other->end - other->begin));
    if (range->type & MAP_PRESENT)
        return range_absent(work, range);
    report(work->where, work->site,
           "\"%.*s\" (%zu bytes at %p) overlaps \"%.*s\", of which %zu bytes at %p are "
           "mapped; map the whole of it first, or only what is mapped",
           name.length, name.text, range->bytes, (void *)range->begin, old.length, old.text,
           (size_t)(other->end - other->begin), (void *)other->begin);
    return range_impossible();
}

/* Linux keeps the first page free for null pointers. */
static bool range_is_nowhere(struct work *work, const struct range *range)
{
    enum { FREE_BYTES = 4096 };
    struct name name = name_of(range->name);
    if (range->begin >= FREE_BYTES || !(range->type & (MAP_TO | MAP_FROM)))
        return false;
    return !report(work->where, work->site,
                   "\"%.*s\" (%zu bytes at %p) is no memory: the pointer in its map clause is "
                   "null",
                   name.length, name.text, range->bytes, (void *)range->begin);
}

/* Clauses for maps name what the host has. A variable that lies there is not found by its device,
 * whose lock is held, so it is looked for here. */
static bool range_is_of_device(struct work *work, const struct range *range)
{
    char words[OWNER_WORDS], variable[RANGE_WORDS];
    if (!owner_alone_words(range->begin, words))
        return false;
    struct name name = name_of(range->name);
    const struct mapped *mapped = mapping_of_device(&work->device->space->mapping, range->begin);
    return !report(work->where, work->site,
                   "\"%.*s\" (%zu bytes at %p) is already %.*s%s%s, and a map clause takes memory "
                   "of the host: name a pointer by is_device_ptr, a variable by has_device_addr "
                   "(with clang from 19 on)",
                   name.length, name.text, range->bytes, (void *)range->begin,
                   mapped ? (int)strcspn(words, ",") : (int)strlen(words), words,
                   mapped ? ", inside " : "", mapped ? range_words(mapped, variable) : "");
}

static struct mapped *range_add(struct work *work, const struct range *range)
{
    struct device *device = work->device;
    struct suballoc part;
    if (range_is_nowhere(work, range) || range_is_of_device(work, range)) {
        range_impossible();
        return NULL;
    }
    if (!work_alloc(work, range->name, range->begin, range->bytes, &part)) {
        range_impossible();
        return NULL;
    }
    struct mapped *mapped = mapping_add(&device->space->mapping, range->begin, range->bytes,
                                        part.device, (range->type & MAP_HOLD) != 0);
    if (!mapped) {
        suballoc_give(&device->space->memory, work->where, &part);
        report(work->where, &device->site, "no host memory for a mapped range");
        return NULL;
    }
    mapped->memory = part;
    return mapped;
}

static void range_told(const struct work *work, const struct mapped *mapped)
{
    ompt_memory(OMPT_ALLOC, work->device->number, (const void *)mapped->begin, mapped->device,
                mapped->end - mapped->begin);
}

static bool range_move(struct work *work, enum move_kind kind, struct mapped *mapped)
{
    return moves_add(work, move_of_range(kind, mapped));
}

/* Where regions are searched for addresses that they leave (place/stored.c), they are not to be
 * found guilty of those that its memory had before. */
static bool range_clear(struct work *work, const struct range *range, struct mapped *mapped,
                        bool again)
{
    bool needs = devices_are_placed() && !devices_are_named() && !(range->type & MAP_TO) &&
                 (!again || mapped->pointed) && mapped_is_searched(mapped);
    mapped->pointed = false;
    return !needs || range_move(work, MOVE_CLEAR, mapped);
}

/* A variable that was mapped a moment ago has its memory still, unless the device is lost. */
static struct mapped *range_make(struct work *work, const struct range *range)
{
    struct mapped *mapped = NULL;
    if (!work->lost)
        mapped = mapping_add_again(&work->device->space->mapping, range->begin, range->bytes,
                                   (range->type & MAP_HOLD) != 0);
    bool again = mapped;
    if (!mapped)
        mapped = range_add(work, range);
    if (!mapped || !range_clear(work, range, mapped, again))
        return NULL;
    if (range->counts)
        mapped->entered_by[(range->type & MAP_HOLD) != 0] = work->number;
    else
        mapped_make_way(mapped);
    mapped->base = mapping_base(range->base, range->begin);
    mapped->name = range->name;
    mapped->made_by = work->number;
    if (mapped->memory.block) {
        work->misplaced |= work->placed_end && !suballoc_follows(&mapped->memory, work->placed_end);
        work->placed_end = mapped->device + range->bytes;
    }
    info_entered(work, mapped, range, true);
    range_told(work, mapped);
    return mapped;
}

/* Nobody has mapped it any more, but it was left there for works that may find it through memory:
 * it is new, behind those. */
static bool range_renew(struct work *work, struct mapped *mapped)
{
    if (!mapped_is_left_over(mapped))
        return true;
    mapped->made_by = work->number;
    return work_follow_all(work, mapped);
}

/* To a clause a range is new, too, if it was only there for a pointer in it: then all of it gets
 * its values, as other clauses may name more of it. While others use it, what they bring back is
 * newer than the host's. */
static bool range_count(struct work *work, const struct range *range, struct mapped *mapped)
{
    if (!range->counts) {
        mapped_enter_way(mapped);
        return true;
    }
    size_t bytes = mapped->end - mapped->begin;
    bool fresh = mapped->ways > 0 && !mapped_is_named(mapped) && LIST_EMPTY(&mapped->pins);
    if (fresh)
        mapped->made_by = work->number;
    mapped_enter(mapped, (range->type & MAP_HOLD) != 0, work->number);
    return !fresh || range->bytes == bytes || range_move(work, MOVE_TO, mapped);
}

/* Around what was there only for pointers in it: those go when the whole does. */
static struct mapped *range_make_around(struct work *work, const struct range *range,
                                        struct attached_tree *pointers)
{
    struct mapped *mapped = range_make(work, range);
    if (!mapped) {
        pointers_free(pointers);
        return NULL;
    }
    mapped->pointers = *pointers;
    return range_move(work, MOVE_POINTERS, mapped) ? mapped : NULL;
}

/* Maps the range, or finds it mapped. *mapped is NULL if it has no length and is not mapped. */
static bool range_enter(struct work *work, const struct range *range, struct mapped **mapped)
{
    struct mapping *mapping = &work->device->space->mapping;
    struct attached_tree pointers;
    enum overlap overlap = mapping_find(mapping, range->begin, range->bytes, mapped);
    if (overlap == OVERLAP_PARTLY && !(range->type & MAP_PRESENT) &&
        mapping_take_ways(mapping, range->begin, range->bytes, &pointers)) {
        *mapped = range_make_around(work, range, &pointers);
        return *mapped && work_pin(work, *mapped, range->begin, 0);
    }
    if (overlap == OVERLAP_PARTLY && !(range->type & MAP_IMPLICIT))
        return range_overlaps(work, range, *mapped);
    if (overlap == OVERLAP_INSIDE && range->bytes == 0 && mapped_is_left_over(*mapped))
        overlap = OVERLAP_NONE;
    if (overlap == OVERLAP_NONE && (range->type & MAP_PRESENT))
        return range_absent(work, range);
    if (overlap == OVERLAP_NONE) {
        *mapped = NULL;
        if (range->bytes == 0)
            return true;
        *mapped = range_make(work, range);
        return *mapped && work_pin(work, *mapped, range->begin, 0);
    }
    if (ompt_is_on() && !mapped_is_wanted(*mapped)) /* it was to go */
        range_told(work, *mapped);
    if (!range_renew(work, *mapped) || !range_count(work, range, *mapped))
        return false;
    info_entered(work, *mapped, range, false);
    return (!work_has_to_follow(work, *mapped) || range_move(work, MOVE_NOTHING, *mapped)) &&
           work_pin(work, *mapped, range->begin, 0);
}

static bool range_fill(struct work *work, const struct range *range, struct mapped *mapped)
{
    bool made = mapped->made_by == work->number;
    if (!(range->type & MAP_TO) || range->bytes == 0 || !(made || range->type & MAP_ALWAYS))
        return true;
    uintptr_t begin = range->begin, end = begin + range->bytes;
    if (begin < mapped->begin) /* an implicit range that is mapped partly */
        begin = mapped->begin;
    if (end > mapped->end)
        end = mapped->end;
    return moves_add(
        work,
        (struct move){.kind = MOVE_TO, .range = mapped, .begin = begin, .bytes = end - begin});
}

/* ---- items ---------------------------------------------------------------------------------- */

static void *pointer_value(void *pointer)
{
    void *value; /* in a packed structure it may lie anywhere */
    memcpy(&value, pointer, sizeof(value));
    return value;
}

static bool item_attach(struct work *work, const struct maps *maps, int i)
{
    return moves_add(work, (struct move){.kind = MOVE_ATTACH,
                                         .always = maps->types[i] & MAP_ALWAYS,
                                         .begin = (uintptr_t)maps->bases[i],
                                         .bytes = maps_bytes(maps, i),
                                         .pointee = (uintptr_t)maps->begins[i]});
}

/* The pointer of an item that brings its own is on the way to it. */
static bool item_enter_pointer(struct work *work, const struct maps *maps, int i,
                               struct mapped **mapped)
{
    uintptr_t pointer = (uintptr_t)maps->bases[i];
    struct range range = {.begin = pointer,
                          .base = pointer,
                          .bytes = sizeof(void *),
                          .type = maps->types[i] & MAP_IMPLICIT,
                          .name = maps_name(maps, i)};
    return range_enter(work, &range, mapped);
}

/* What use_device_ptr and use_device_addr get; what is not mapped keeps its host address, or is
 * NULL at the item's begin if the clause says so. */
static void item_return(const struct work *work, const struct maps *maps, int i,
                        const struct range *range, const struct mapped *mapped)
{
    uintptr_t address = range->type & MAP_NULLIFY ? range->base - range->begin : range->base;
    struct name name = name_of(range->name);
    if (!mapped && info_wants(INFO_EMPTY))
        info_print(work->device->number, "variable %.*s does not have a valid device counterpart\n",
                   name.length, name.text);
    if (mapped) {
        owner_watch();
        address = mapped_address(mapped, range->begin) - (range->begin - range->base);
    }
    maps->bases[i] = (void *)address;
}

static bool item_enter(struct work *work, const struct maps *maps, int i)
{
    int64_t type = maps->types[i];
    bool object = (type & MAP_PTR_AND_OBJ) != 0;
    bool leads = maps_lead(maps, i);
    struct mapped *pointer = NULL, *mapped = NULL;
    void *pointer_host = maps->bases[i];
    if (object && !item_enter_pointer(work, maps, i, &pointer))
        return false;
    struct range range = {.begin = (uintptr_t)maps->begins[i],
                          .base = (uintptr_t)(object ? pointer_value(pointer_host) : pointer_host),
                          .bytes = maps_bytes(maps, i),
                          .type = leads ? type & (MAP_TO | MAP_IMPLICIT) : type,
                          .counts = !leads && maps_item_counts(maps, i),
                          .name = maps_name(maps, i)};
    if (!range_enter(work, &range, &mapped) || (mapped && !range_fill(work, &range, mapped)))
        return false;
    if (maps->entered)
        maps->entered[i] = mapped;
    if (type & MAP_RETURN_PARAM)
        item_return(work, maps, i, &range, mapped);
    struct move move;
    return !pointer ||
           (pointer_attach(work, pointer, (uintptr_t)pointer_host, sizeof(void *), mapped, &move) &&
            moves_add(work, move));
}

static maps_function list_enter;

static bool any_enter(struct work *work, const struct maps *maps, int i, bool plainly)
{
    if (plainly && maps_item_is_plain(maps, i) && plain_enter(work, maps, i))
        return true;
    if (maps->entered) /* it was the last time's */
        maps->entered[i] = NULL;
    if (maps->types[i] & MAP_ATTACH)
        return map_is_private(maps->types[i]) || item_attach(work, maps, i);
    if (map_is_private(maps->types[i]))
        return true;
    if (maps->mappers && maps->mappers[i])
        return mapper_run(work, maps, i, list_enter);
    return item_enter(work, maps, i);
}

/* Does not depend on what stands before it, and shares a block. */
static bool is_small(const struct maps *maps, int i)
{
    return maps_item_is_plain(maps, i) && maps->sizes[i] > 0 && maps->sizes[i] <= SUBALLOC_BYTES &&
           !(maps->mappers && maps->mappers[i]);
}

enum { ORDER_MOST = 64 };

/* Items in the order of their addresses: does one begin before the one in front of it ends? */
static bool items_overlap(const struct maps *maps, int first, const uint8_t order[], int count)
{
    for (int at = 1; at < count; at++) {
        int i = first + order[at], before = first + order[at - 1];
        if ((uintptr_t)maps->begins[i] - (uintptr_t)maps->begins[before] < maps_bytes(maps, before))
            return true;
    }
    return false;
}

/* Small items from the first one on, in the order in which they lie on the host. Each keeps its
 * address modulo SUBALLOC_ALIGNMENT, so the gaps between them are as small as there, and they
 * travel together. Their number. Lines of LIBOMPTARGET_INFO come in the order of the clauses. Where
 * items overlap the first one has to be entered first and left last, so the number is 0. */
static int order_make(const struct maps *maps, int first, uint8_t order[ORDER_MOST])
{
    int count = 0;
    if (maps_are_told())
        return 0;
    for (int i = first; i < maps->count && count < ORDER_MOST && is_small(maps, i); i++) {
        int at = count++;
        for (; at > 0 && maps->begins[first + order[at - 1]] > maps->begins[i]; at--)
            order[at] = order[at - 1];
        order[at] = (uint8_t)(i - first);
    }
    return items_overlap(maps, first, order, count) ? 0 : count;
}

static bool whole_enter(struct work *work, const struct maps *maps, int i)
{
    struct mapped *mapped;
    struct range range = {.begin = (uintptr_t)maps->begins[i],
                          .base = (uintptr_t)maps->begins[i],
                          .bytes = maps_bytes(maps, i),
                          .type = maps->types[i],
                          .counts = true,
                          .name = maps_name(maps, i)};
    return range_enter(work, &range, &mapped);
}

static bool list_enter(struct work *work, const struct maps *maps)
{
    bool plainly = maps_go_plainly(work, maps), told = maps_are_told();
    uint8_t order[ORDER_MOST];
    int first = 0;
    if (!maps->apart && !wholes_each(work, maps, whole_enter))
        return false;
    while (first < maps->count) {
        int count = maps->apart ? 0 : order_make(maps, first, order);
        if (count == 0 && !any_enter(work, maps, first, plainly))
            return false;
        for (int i = 0; i < count; i++)
            if (!(plainly && plain_enter(work, maps, first + order[i])) &&
                !item_enter(work, maps, first + order[i]))
                return false;
        if (told && !moves_issue(work))
            return false;
        first += count > 0 ? count : 1;
    }
    return true;
}

bool maps_resolve(struct work *work, const struct maps *maps)
{
    moves_begin(work);
    return list_enter(work, maps) && attachments_decide(work);
}

bool maps_enter(struct work *work, const struct maps *maps)
{
    bool right = maps_resolve(work, maps);
    right = moves_issue(work) && right;
    return work_send(work) && right;
}
