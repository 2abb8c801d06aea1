/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* update.c: target update, see maps.h. */
#include "openmp/abi/location.h"
#include "openmp/image/registry.h"
#include "openmp/map/maps.h"
#include "openmp/run/kept.h"
#include "openmp/site/report.h"

static bool part_absent(struct work *work, const struct maps *maps, int i, const void *begin,
                        size_t bytes)
{
    struct name name = name_of(maps_name(maps, i));
    message_print("device mapping required by 'present' motion modifier does not "
                  "exist for host address 0x%016llx (%zu bytes)",
                  (unsigned long long)(uintptr_t)begin, bytes);
    return report(work->where, work->site,
                  "\"%.*s\" (%zu bytes at %p) is not mapped, as its motion clause says \"present\"",
                  name.length, name.text, bytes, begin);
}

static bool part_move(struct work *work, int64_t type, struct mapped *mapped, const char *begin,
                      size_t bytes, const omprma_shape_t *shape)
{
    struct move move = {.kind = MOVE_FROM,
                        .range = mapped,
                        .begin = (uintptr_t)begin,
                        .bytes = bytes,
                        .shape = shape};
    if ((type & MAP_FROM) && !move_issue(work, &move))
        return false;
    move.kind = MOVE_TO;
    return !(type & MAP_TO) || move_issue(work, &move);
}

static bool part_update(struct work *work, const struct maps *maps, int i, char *begin,
                        size_t bytes)
{
    struct mapped *mapped;
    int64_t type = maps->types[i];
    if (mapping_find(&work->device->space->mapping, (uintptr_t)begin, bytes, &mapped) !=
        OVERLAP_INSIDE)
        return !(type & MAP_PRESENT) || part_absent(work, maps, i, begin, bytes);
    if (bytes == 0)
        return true;
    return part_move(work, type, mapped, begin, bytes, NULL);
}

/* A range with `count` dimensions, the outermost first; the innermost one is a single element. */
struct part {
    const struct dimension *dimensions;
    int count;    /* of the dimensions that are gone through; what is inside is contiguous */
    size_t bytes; /* of the contiguous piece */
};

/* Joins the innermost dimensions as long as one follows the other without a gap. */
static struct part part_of(const struct dimension *dimensions, int count)
{
    struct part part = {dimensions, count - 1, 0};
    part.bytes = dimensions[count - 1].count * dimensions[count - 1].stride;
    while (part.count > 0 && dimensions[part.count - 1].stride == part.bytes) {
        part.count--;
        part.bytes *= dimensions[part.count].count;
    }
    return part;
}

/* The runs from `level` on as a shape; their reach. */
static size_t part_shape(const struct part *part, int level, omprma_shape_t *shape)
{
    size_t reach = part->bytes;
    *shape = (omprma_shape_t){.bytes = part->bytes, .count = {1, 1, 1}};
    for (int i = part->count - 1, rank = 0; i >= level; i--, rank++) {
        const struct dimension *dimension = &part->dimensions[i];
        shape->count[rank] = dimension->count;
        shape->to_stride[rank] = shape->from_stride[rank] = dimension->stride;
        reach += (dimension->count - 1) * dimension->stride;
    }
    return reach;
}

static bool part_is_empty(const struct part *part)
{
    bool empty = part->bytes == 0;
    for (int i = 0; i < part->count; i++)
        empty |= part->dimensions[i].count == 0;
    return empty;
}

/* Together, where all lies in one range, unless each has to be looked at: there are pointers among
 * them, or somebody is told of each, or what comes back has to wait. Else not *done: they go one by
 * one. */
static bool runs_update(struct work *work, const struct maps *maps, int i, const struct part *part,
                        int level, char *at, bool *done)
{
    struct mapped *mapped;
    omprma_shape_t shape;
    size_t reach = part_shape(part, level, &shape);
    *done = mapping_find(&work->device->space->mapping, (uintptr_t)at, reach, &mapped) ==
                OVERLAP_INSIDE &&
            !work->spared && !mapped_has_pointers(mapped) && !info_wants(INFO_TRANSFERS);
    return !*done || part_move(work, maps->types[i], mapped, at, reach, &shape);
}

static bool part_walk(struct work *work, const struct maps *maps, int i, const struct part *part,
                      int level, char *at)
{
    bool done = false;
    if (level == part->count)
        return part_update(work, maps, i, at, part->bytes);
    if (part->count - level <= OMPRMA_SHAPE_RANK && !part_is_empty(part)) {
        bool right = runs_update(work, maps, i, part, level, at, &done);
        if (!right || done)
            return right;
    }
    const struct dimension *dimension = &part->dimensions[level];
    for (uint64_t step = 0; step < dimension->count; step++)
        if (!part_walk(work, maps, i, part, level + 1, at + step * dimension->stride))
            return false;
    return true;
}

/* Up to clang 22 an element is one time its size, and offsets count what their dimension has; since
 * 23 it is so many bytes, and they count bytes. Of elements of one byte only the compiler's version
 * tells. */
enum offsets { OFFSETS_COUNT, OFFSETS_BYTES, OFFSETS_UNKNOWN };

static enum offsets offsets_of(const struct dimension *dimensions, int count)
{
    enum { CLANG_BYTES = 23 };
    const struct dimension *element = &dimensions[count - 1];
    struct compilers by = registry_compilers();
    bool matters = false;
    for (int level = 0; level < count - 2; level++)
        matters = matters || dimensions[level].offset > 0;
    if (element->stride != 1 || (element->count == 1 && !matters))
        return OFFSETS_COUNT;
    if (element->count > 1 || by.oldest >= CLANG_BYTES)
        return OFFSETS_BYTES;
    return by.newest > 0 && by.newest < CLANG_BYTES ? OFFSETS_COUNT : OFFSETS_UNKNOWN;
}

/* A section with a step has it in its stride, but, where they count, not in its offset; with the
 * innermost dimension the element's size tells them apart, with others nothing does. */
static uint64_t offset_unit(const struct dimension *dimensions, int count, int level,
                            enum offsets offsets)
{
    if (offsets == OFFSETS_BYTES)
        return 1;
    return dimensions[level == count - 2 ? count - 1 : level].stride;
}

/* Offsets of a structure's member count from the structure's begin, but leave out where the member
 * lies in it. If it is the only one, the structure's item begins where the part does. */
static bool is_only_member(const struct maps *maps, int i)
{
    int parent = maps_parent(maps, i), members = 0;
    for (int each = 0; each < maps->count; each++)
        members += maps_parent(maps, each) == parent;
    return parent >= 0 && parent < i && members == 1;
}

/* Do the parts end where memory may be, and are they apart? What follows relies on it. */
static bool dimensions_are_sound(const struct dimension *dimensions, int count,
                                 enum offsets offsets)
{
    uint64_t end = 0, reach, from;
    for (int level = 0; level < count; level++) {
        const struct dimension *each = &dimensions[level];
        if ((each->stride == 0 && each->count > 1) ||
            __builtin_mul_overflow(each->count, each->stride, &reach) ||
            __builtin_mul_overflow(each->offset, offset_unit(dimensions, count, level, offsets),
                                   &from) ||
            __builtin_add_overflow(end, reach, &end) || __builtin_add_overflow(end, from, &end) ||
            end > PTRDIFF_MAX >> 16)
            return false;
    }
    return true;
}

static bool item_update_parts(struct work *work, const struct maps *maps, int i)
{
    int count = maps->sizes[i] < 1 ? 0 : (int)maps->sizes[i];
    const struct dimension *dimensions = kept_dimensions(maps->begins[i], count);
    char *at = maps->bases[i];
    struct name name = name_of(maps_name(maps, i));
    if (count < 1) /* clang up to 19, for a part of a structure's member */
        return report(work->where, work->site,
                      "the compiler passes no dimensions of \"%.*s\"; update a contiguous part of "
                      "it, or compile with clang 22",
                      name.length, name.text);
    enum offsets offsets = offsets_of(dimensions, count);
    if (offsets == OFFSETS_UNKNOWN)
        return report(
            work->where, work->site,
            "the compiler does not tell where \"%.*s\" begins: clang 23 counts rows in "
            "bytes, older ones do not; compile all of the program with one clang, without "
            "-fno-ident",
            name.length, name.text);
    if (!dimensions_are_sound(dimensions, count, offsets))
        return report(work->where, work->site,
                      "the program passes impossible dimensions for \"%.*s\"", name.length,
                      name.text);
    if (is_only_member(maps, i))
        at = maps->begins[maps_parent(maps, i)];
    for (int level = 0; level < count && !is_only_member(maps, i); level++)
        at += dimensions[level].offset * offset_unit(dimensions, count, level, offsets);
    struct part part = part_of(dimensions, count);
    return part_walk(work, maps, i, &part, 0, at);
}

/* ---- arrays of structures ------------------------------------------------------------------- */

/* What a mapper makes of an array: the same items again and again, each time `stride` further on.
 */
struct series {
    int first, period, count;
    size_t stride; /* bytes */
};

static bool is_item_of_series(const struct maps *maps, int i)
{
    const int64_t others = MAP_PTR_AND_OBJ | MAP_ATTACH | MAP_NON_CONTIG;
    return !(maps->types[i] & others) && !map_is_private(maps->types[i]) &&
           !(maps->mappers && maps->mappers[i]) && !maps_lead(maps, i);
}

/* Is the item what the one a period before is, `stride` further on? */
static bool goes_on(const struct maps *maps, const struct series *series, int i)
{
    int before = i - series->period;
    return i < maps->count && is_item_of_series(maps, i) &&
           !((maps->types[i] ^ maps->types[before]) & ~MAP_MEMBER_OF) &&
           maps->sizes[i] == maps->sizes[before] &&
           (uintptr_t)maps->begins[i] - (uintptr_t)maps->begins[before] == series->stride;
}

static bool are_apart(const struct maps *maps, const struct series *series)
{
    for (int k = 0; k < series->period; k++)
        if (maps_bytes(maps, series->first + k) > series->stride)
            return false;
    return true;
}

/* With so many items per element, all of which may be some, and as many elements as there are. */
static struct series series_of(const struct maps *maps, int first, int period)
{
    struct series series = {first, period, 1, 0};
    int i = first + period;
    if (i < maps->count)
        series.stride = (uintptr_t)maps->begins[i] - (uintptr_t)maps->begins[first];
    while (goes_on(maps, &series, i))
        i++;
    series.count = (i - first) / period;
    if (series.stride > PTRDIFF_MAX >> 16 || !are_apart(maps, &series))
        series.count = 1;
    return series;
}

/* One that is worth it, from an item on; .count is 1: there is none. */
static struct series find_series(const struct maps *maps, int first)
{
    enum { PERIOD_MOST = 16, COUNT_LEAST = 4 };
    for (int period = 1; period <= PERIOD_MOST && first + period <= maps->count &&
                         is_item_of_series(maps, first + period - 1);
         period++) {
        struct series series = series_of(maps, first, period);
        if (series.count >= COUNT_LEAST)
            return series;
    }
    return (struct series){first, 1, 1, 0};
}

/* Each member of all elements together, or, where that cannot be, element by element. */
static bool series_update(struct work *work, const struct maps *maps, const struct series *series)
{
    for (int k = 0; k < series->period; k++) {
        int i = series->first + k;
        const struct dimension dimension = {.count = (uint64_t)series->count,
                                            .stride = series->stride};
        const struct part part = {&dimension, 1, maps_bytes(maps, i)};
        if (!part_walk(work, maps, i, &part, 0, maps->begins[i]))
            return false;
    }
    return true;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static maps_function made_update;

static bool item_update(struct work *work, const struct maps *maps, int i)
{
    if (map_is_private(maps->types[i]) || (maps->types[i] & MAP_ATTACH) || maps_lead(maps, i))
        return true;
    if (maps->mappers && maps->mappers[i])
        return mapper_run(work, maps, i, made_update);
    if (maps->types[i] & MAP_NON_CONTIG)
        return item_update_parts(work, maps, i);
    return part_update(work, maps, i, maps->begins[i], maps_bytes(maps, i));
}

/* Of a mapper. */
static bool made_update(struct work *work, const struct maps *maps)
{
    bool right = true;
    for (int i = 0; i < maps->count && right;) {
        struct series series = find_series(maps, i);
        right = series.count > 1 ? series_update(work, maps, &series) : item_update(work, maps, i);
        i += series.period * series.count;
    }
    return right;
}

bool maps_update(struct work *work, const struct maps *maps)
{
    bool right = true;
    for (int i = 0; i < maps->count && right; i++)
        right = item_update(work, maps, i);
    return work_send(work) && right;
}
