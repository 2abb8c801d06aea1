/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mapping.c: see mapping.h. The trees are libbsd's red-black trees. */
#include "openmp/device/mapping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/abi/location.h"

static int mapped_compare(const struct mapped *a, const struct mapped *b)
{
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int attached_compare(const struct attached *a, const struct attached *b)
{
    return a->pointer < b->pointer ? -1 : a->pointer > b->pointer;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* each tree uses some of them */
RB_GENERATE_INTERNAL(mapped_tree, mapped, link, mapped_compare, static)
RB_GENERATE_INTERNAL(attached_tree, attached, link, attached_compare, static)
#pragma GCC diagnostic pop

static const omprma_addr_t below_most = UINT64_C(1) << 34; /* further away it is no index */

/* So many ranges that may come again: more than a region has. */
enum { VACANT_MOST = 128 };

void mapping_init(struct mapping *mapping, void (*give)(void *owner, const struct suballoc *part),
                  void *owner)
{
    *mapping = (struct mapping){.low = UINT64_MAX, .give = give, .owner = owner};
    RB_INIT(&mapping->tree);
    TAILQ_INIT(&mapping->vacant);
}

/* ---- ranges --------------------------------------------------------------------------------- */

static struct mapped *previous(struct mapped *each)
{
    return each ? RB_PREV(mapped_tree, NULL, each) : NULL;
}

static struct mapped *next(struct mapped *each)
{
    return each ? RB_NEXT(mapped_tree, NULL, each) : NULL;
}

/* Whether the address lies behind `before` and not behind `after`, or in one of the gaps beside
 * this one, which it then becomes: lists are entered from their beginning and left from their end.
 */
static bool gap_is_near(struct gap *gap, uintptr_t address)
{
    struct gap at = *gap;
    if (at.before && at.before->begin > address)
        at = (struct gap){previous(at.before), at.before};
    else if (at.after && at.after->begin <= address)
        at = (struct gap){at.after, next(at.after)};
    if ((at.before && at.before->begin > address) || (at.after && at.after->begin <= address))
        return false;
    *gap = at;
    return true;
}

static struct gap gap_find(const struct mapping *mapping, uintptr_t address)
{
    struct mapped *each = RB_ROOT(&mapping->tree);
    struct gap gap = {NULL, NULL};
    while (each) {
        if (each->begin <= address) {
            gap.before = each;
            each = RB_RIGHT(each, link);
        } else {
            gap.after = each;
            each = RB_LEFT(each, link);
        }
    }
    return gap;
}

/* The last range that begins at or before the address, and the first one after it. The last two
 * places are kept: a structure's mapper goes to and fro between the structures and what they point
 * to. */
static struct gap *mapping_around(struct mapping *mapping, uintptr_t address)
{
    struct gap *near = mapping->near;
    if (gap_is_near(&near[0], address))
        return &near[0];
    if (gap_is_near(&near[1], address))
        return &near[1];
    near[1] = near[0];
    near[0] = gap_find(mapping, address);
    return &near[0];
}

struct mapped *mapping_at(struct mapping *mapping, uintptr_t address)
{
    return mapping_around(mapping, address)->before;
}

/* A range lies in this gap now. */
static void gaps_split(struct mapping *mapping, struct gap gap, struct mapped *mapped)
{
    for (int i = 0; i < 2; i++)
        if (mapping->near[i].before == gap.before && mapping->near[i].after == gap.after)
            mapping->near[i].after = mapped;
}

/* It is about to go. */
static void gaps_join(struct mapping *mapping, struct mapped *mapped)
{
    for (int i = 0; i < 2; i++) {
        struct gap *gap = &mapping->near[i];
        if (gap->before == mapped)
            gap->before = previous(mapped);
        else if (gap->after == mapped)
            gap->after = next(mapped);
    }
}

static struct mapped *not_vacant_before(struct mapped *each)
{
    while (each && each->vacant)
        each = RB_PREV(mapped_tree, NULL, each);
    return each;
}

static struct mapped *not_vacant_after(struct mapped *each)
{
    while (each && each->vacant)
        each = RB_NEXT(mapped_tree, NULL, each);
    return each;
}

/* A section of no length belongs to a range also where it lies between the variable's base and the
 * part of it that is mapped. */
static enum overlap find_empty(uintptr_t begin, struct mapped *before, struct mapped *after,
                               struct mapped **found)
{
    *found = NULL;
    before = not_vacant_before(before);
    if (before && (begin < before->end || begin < before->base))
        *found = before;
    else if ((after = not_vacant_after(after)) && begin >= after->base)
        *found = after;
    return *found ? OVERLAP_INSIDE : OVERLAP_NONE;
}

enum overlap mapping_find(struct mapping *mapping, uintptr_t begin, size_t bytes,
                          struct mapped **found)
{
    const struct gap *gap = mapping_around(mapping, begin);
    struct mapped *before = gap->before, *after = gap->after;
    if (bytes == 0)
        return find_empty(begin, before, after, found);
    uintptr_t end = begin + bytes;
    while (after && after->vacant && end > after->begin)
        after = RB_NEXT(mapped_tree, NULL, after);
    if (before && !before->vacant && begin < before->end) {
        *found = before;
        return end <= before->end ? OVERLAP_INSIDE : OVERLAP_PARTLY;
    }
    if (after && end > after->begin) {
        *found = after;
        return OVERLAP_PARTLY;
    }
    *found = NULL;
    return OVERLAP_NONE;
}

/* Nothing of it is left in the table. */
static void take_out(struct mapping *mapping, struct mapped *mapped)
{
    gaps_join(mapping, mapped);
    RB_REMOVE(mapped_tree, &mapping->tree, mapped);
    mapped->begin = 1; /* no range that is asked for, see mapping_exact() */
    mapped->end = mapped->number = 0;
    mapped->next_spare = mapping->spare;
    mapping->spare = mapped;
}

static void forget(struct mapping *mapping, struct mapped *vacant)
{
    struct suballoc part = vacant->memory;
    TAILQ_REMOVE(&mapping->vacant, vacant, link_vacant);
    mapping->vacant_count--;
    take_out(mapping, vacant);
    mapping->give(mapping->owner, &part);
}

bool mapping_forget(struct mapping *mapping)
{
    bool any = !TAILQ_EMPTY(&mapping->vacant);
    while (!TAILQ_EMPTY(&mapping->vacant))
        forget(mapping, TAILQ_FIRST(&mapping->vacant));
    return any;
}

/* No vacant range stands where another one is to be. */
static void make_place(struct mapping *mapping, uintptr_t begin, uintptr_t end)
{
    const struct gap *gap = mapping_around(mapping, begin);
    if (gap->before && gap->before->vacant && gap->before->end > begin)
        forget(mapping, gap->before);
    while (gap->after && gap->after->vacant && gap->after->begin < end)
        forget(mapping, gap->after);
}

/* Of two that follow each other one has no child on the side of the other. */
static void put_in(struct mapping *mapping, struct mapped *mapped)
{
    struct gap gap = *mapping_around(mapping, mapped->begin);
    if (gap.before && !RB_RIGHT(gap.before, link)) {
        RB_SET(mapped, gap.before, link);
        RB_RIGHT(gap.before, link) = mapped;
    } else {
        RB_SET(mapped, gap.after, link);
        if (gap.after)
            RB_LEFT(gap.after, link) = mapped;
        else
            RB_ROOT(&mapping->tree) = mapped;
    }
    mapped_tree_RB_INSERT_COLOR(&mapping->tree, mapped);
    gaps_split(mapping, gap, mapped);
    mapping->count++;
}

struct mapped *mapping_add(struct mapping *mapping, uintptr_t begin, size_t bytes,
                           omprma_addr_t device, bool hold)
{
    make_place(mapping, begin, begin + bytes);
    struct mapped *mapped = mapping->spare;
    if (mapped)
        mapping->spare = mapped->next_spare;
    else
        mapped = malloc(sizeof(*mapped));
    if (!mapped)
        return NULL;
    *mapped = (struct mapped){.begin = begin,
                              .base = begin,
                              .end = begin + bytes,
                              .number = ++mapping->made,
                              .device = device,
                              .references = hold ? 0 : 1,
                              .holds = hold ? 1 : 0};
    put_in(mapping, mapped);
    if (device < mapping->low)
        mapping->low = device;
    if (device + bytes > mapping->high)
        mapping->high = device + bytes;
    return mapped;
}

struct mapped *mapping_add_again(struct mapping *mapping, uintptr_t begin, size_t bytes, bool hold)
{
    struct mapped *mapped = mapping_exact(mapping, begin, bytes, NULL);
    if (!mapped || !mapped->vacant)
        return NULL;
    mapping_revive(mapping, mapped, hold);
    return mapped;
}

void pointers_free(struct attached_tree *pointers)
{
    struct attached *pointer;
    while ((pointer = RB_ROOT(pointers))) {
        RB_REMOVE(attached_tree, pointers, pointer);
        free(pointer);
    }
}

static void pointers_move(struct attached_tree *from, struct attached_tree *to)
{
    struct attached *pointer;
    while ((pointer = RB_ROOT(from))) {
        RB_REMOVE(attached_tree, from, pointer);
        RB_INSERT(attached_tree, to, pointer);
        pointer->due = true;
    }
}

void mapping_remove(struct mapping *mapping, struct mapped *mapped)
{
    pointers_free(&mapped->pointers);
    mapping->count--;
    take_out(mapping, mapped);
}

void mapping_vacate(struct mapping *mapping, struct mapped *mapped)
{
    mapped->pointed |= mapped_has_pointers(mapped);
    pointers_free(&mapped->pointers);
    mapping->count--;
    mapped->vacant = true;
    TAILQ_INSERT_TAIL(&mapping->vacant, mapped, link_vacant);
    if (++mapping->vacant_count > VACANT_MOST)
        forget(mapping, TAILQ_FIRST(&mapping->vacant));
}

bool mapping_take_ways(struct mapping *mapping, uintptr_t begin, size_t bytes,
                       struct attached_tree *pointers)
{
    uintptr_t end = begin + bytes;
    struct mapped *each;
    mapping_find(mapping, begin, bytes, &each);
    for (; each && each->begin < end; each = mapping_next(each))
        if (mapped_is_named(each) || !LIST_EMPTY(&each->pins) || each->begin < begin ||
            each->end > end)
            return false;
    RB_INIT(pointers);
    while (mapping_find(mapping, begin, bytes, &each) != OVERLAP_NONE) {
        pointers_move(&each->pointers, pointers);
        mapping_vacate(mapping, each);
    }
    return true;
}

void mapping_drop(struct mapping *mapping, struct mapped *mapped)
{
    mapped->references = 0;
    if (mapped_is_over(mapped))
        mapping_remove(mapping, mapped);
}

struct mapped *mapping_first(const struct mapping *mapping)
{
    struct gap gap = gap_find(mapping, 0);
    return not_vacant_after(gap.before ? gap.before : gap.after);
}

struct mapped *mapping_next(struct mapped *mapped)
{
    return not_vacant_after(RB_NEXT(mapped_tree, NULL, mapped));
}

struct mapped *mapping_of_device(const struct mapping *mapping, omprma_addr_t address)
{
    if (address < mapping->low || address >= mapping->high)
        return NULL;
    struct mapped *each = mapping_first(mapping);
    while (each && address - each->device >= each->end - each->begin)
        each = mapping_next(each);
    return each;
}

/* ---- counts --------------------------------------------------------------------------------- */

void mapped_enter(struct mapped *mapped, bool hold, uint64_t work)
{
    uint64_t *count = hold ? &mapped->holds : &mapped->references;
    if (*count != COUNT_INFINITE && mapped->entered_by[hold] != work)
        ++*count;
    mapped->entered_by[hold] = work;
}

void mapped_leave(struct mapped *mapped, bool hold, bool all, uint64_t work)
{
    uint64_t *count = hold ? &mapped->holds : &mapped->references;
    bool again = mapped->left_by[hold] == work && !all;
    if (all)
        mapped->ways = 0;
    mapped->left_by[hold] = work;
    if (*count == COUNT_INFINITE || *count == 0 || again)
        return;
    *count = all ? 0 : *count - 1;
    if (!mapped_is_named(mapped))
        mapped->ended_by = work;
}

bool mapped_is_left_over(const struct mapped *mapped)
{
    const struct pinned *each;
    if (mapped_is_wanted(mapped))
        return false;
    LIST_FOREACH(each, &mapped->pins, link)
    if (!each->guessed)
        return false;
    return true;
}

/* ---- pointers ------------------------------------------------------------------------------- */

static struct attached *attached_find(struct mapped *mapped, uintptr_t pointer)
{
    struct attached key = {.pointer = pointer};
    return RB_FIND(attached_tree, &mapped->pointers, &key);
}

/* Without a value yet, in place of one with other bytes. NULL: no memory. */
static struct attached *attached_make(struct mapped *mapped, uintptr_t pointer, size_t bytes)
{
    struct attached *attached = attached_find(mapped, pointer);
    if (attached && attached->bytes == bytes)
        return attached;
    if (attached) {
        RB_REMOVE(attached_tree, &mapped->pointers, attached);
        free(attached);
    }
    attached = calloc(1, sizeof(*attached) + bytes);
    if (!attached)
        return NULL;
    attached->pointer = pointer;
    attached->bytes = bytes;
    attached->due = true;
    RB_INSERT(attached_tree, &mapped->pointers, attached);
    return attached;
}

bool mapped_attach(struct mapped *mapped, uintptr_t pointer, size_t bytes,
                   const struct mapped *pointee)
{
    const void *host_value = (const void *)pointer;
    struct attached *attached = attached_make(mapped, pointer, bytes);
    uint64_t number = pointee ? pointee->number : 0;
    if (!attached)
        return false;
    attached->due |= attached->to != pointee || attached->to_number != number ||
                     memcmp(attached->host_value, host_value, bytes) != 0;
    attached->to = pointee;
    attached->to_number = number;
    memcpy(attached->host_value, host_value, bytes);
    return true;
}

bool attached_value(const struct attached *pointer, unsigned char *value)
{
    uintptr_t base;
    uint64_t device = 0;
    if (pointer->to && pointer->to->number != pointer->to_number)
        return false;
    memcpy(value, pointer->host_value, pointer->bytes);
    memcpy(&base, value, sizeof(base));
    if (pointer->to)
        device = mapped_address(pointer->to, base);
    memcpy(value, &device, sizeof(device));
    return true;
}

void mapped_each_pointer(struct mapped *mapped, uintptr_t begin, size_t bytes,
                         void (*call)(struct attached *pointer, void *context), void *context)
{
    struct attached key = {.pointer = begin};
    struct attached *each = RB_NFIND(attached_tree, &mapped->pointers, &key);
    for (; each && each->pointer < begin + bytes;
         each = RB_NEXT(attached_tree, &mapped->pointers, each))
        call(each, context);
}

/* ---- words ---------------------------------------------------------------------------------- */

const char *range_words(const struct mapped *mapped, char text[RANGE_WORDS])
{
    struct name name = name_of(mapped->name), file = name_base(name_field(mapped->name, 1));
    int line = atoi(name_field(mapped->name, 2).text), length;
    if (!mapped->name)
        length = snprintf(text, RANGE_WORDS, "memory");
    else
        length = snprintf(text, RANGE_WORDS, "\"%.*s\"", name.length, name.text);
    if (length < RANGE_WORDS)
        length += snprintf(text + length, RANGE_WORDS - (size_t)length, " (%zu bytes at %p",
                           (size_t)(mapped->end - mapped->begin), (void *)mapped->begin);
    if (length < RANGE_WORDS && line > 0)
        length += snprintf(text + length, RANGE_WORDS - (size_t)length, ", mapped at %.*s:%d",
                           file.length, file.text, line);
    if (length < RANGE_WORDS)
        snprintf(text + length, RANGE_WORDS - (size_t)length, ")");
    return text;
}

/* ---- the other way round -------------------------------------------------------------------- */

const struct mapped *mapping_below(struct mapping *mapping, omprma_addr_t address)
{
    struct mapped *each, *found = NULL;
    RB_FOREACH(each, mapped_tree, &mapping->tree)
    if (each->device <= address && (!found || each->device > found->device))
        found = each;
    return found && address - found->device < below_most ? found : NULL;
}
