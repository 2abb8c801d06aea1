/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * maps.h: what map clauses mean: entering and leaving a data environment, motion clauses. Only the
 * meaning: ranges are kept by mapping.h, moved by work.h.
 *
 * What an item's columns stand for. `size` counts bytes at `begin`, but for three kinds: LITERAL
 * (the value stands in `base` and `begin`, which are no addresses), ATTACH (of the pointer at
 * `base`; `begin` is what it points to, and may be anything) and NON_CONTIG (dimensions at
 * `begin`). Only the other kinds say where memory is. With PTR_AND_OBJ `base` is where a pointer
 * to the object lies.
 *
 * Of which object a flag speaks:
 *
 * - TO, FROM: the item's bytes; never the pointer to them, whose copy is made by attaching
 * - ALWAYS: the same; with ATTACH: the pointer is attached though nothing is new
 * - PRESENT: the item's bytes have to be mapped; the pointer to them need not be
 * - DELETE: the range that the item's bytes lie in: of a member, its structure's; never the range
 *   that the pointer lies in
 * - HOLD: which of the counts of that range
 * - IMPLICIT: the item's bytes may be mapped partly
 * - CLOSE: nothing: a device has one kind of memory
 * - MEMBER_OF: its structure has an item, which counts for both; with PTR_AND_OBJ the object lies
 *   elsewhere and counts for itself
 * - no direction: alloc or release
 *
 * A construct counts a range once, there and back, however many of its items name the range or
 * parts of it; when that ends the range, each item that says FROM comes back.
 *
 * A mapper's items have the flags that the mapper gives them, and those of the item that it stands
 * for, see mapper.c. Plain items (plain.c) have none but TO, FROM and IMPLICIT, and no pointer.
 * clang 22 passes pointers as items of their own (ATTACH), which neither count nor map anything;
 * other forms are in way.c.
 *
 * Thread: the caller holds the lock of the work's device around each call. Blocks: when the work's
 * queue is full. Errors: false means that it was reported; what was issued goes on.
 */
#ifndef OMPRMA_OPENMP_MAP_MAPS_H
#define OMPRMA_OPENMP_MAP_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openmp/abi/abi.h"
#include "openmp/device/info.h"
#include "openmp/run/work.h"
#include "openmp/tool/ompt.h"

/* What a construct does with its list of maps. */
enum construct_kind { CONSTRUCT_REGION, CONSTRUCT_ENTER, CONSTRUCT_LEAVE, CONSTRUCT_UPDATE };

/* The arrays that a construct passes. */
struct maps {
    int32_t count;
    void **bases, **begins;
    int64_t *sizes, *types;
    void **names, **mappers; /* either may be NULL */
    const int32_t *parents;  /* of a mapper's items, of which there may be more than their types can
                              * number; NULL: the types say it */
    bool apart; /* plain items, but for values, in the order in which they lie in memory:
                 * maps_are_valid() has found that none meets another */
    bool inner; /* a mapper made it for a part of something that is mapped itself */
    struct mapped **entered; /* per item of a region its range, found when entering; NULL: look it
                              * up. The array is NULL outside of regions. */
};

/* Of a construct, from the arguments of an entry point. */
static inline struct maps maps_make(int32_t count, void **bases, void **begins, int64_t *sizes,
                                    int64_t *types, void **names, void **mappers)
{
    return (struct maps){.count = count,
                         .bases = bases,
                         .begins = begins,
                         .sizes = sizes,
                         .types = types,
                         .names = names,
                         .mappers = mappers};
}

static inline const char *maps_name(const struct maps *maps, int i)
{
    return maps->names ? maps->names[i] : NULL;
}

static inline struct mapped *maps_entered(const struct maps *maps, int i)
{
    return maps->entered ? maps->entered[i] : NULL;
}

/* The index of the item that this one is a member of, -1: none. */
static inline int32_t maps_parent(const struct maps *maps, int i)
{
    return maps->parents ? maps->parents[i] : map_parent(maps->types[i]);
}

/* Does its range count it? Members rely on their structure's count. */
static inline bool maps_item_counts(const struct maps *maps, int i)
{
    return (maps->types[i] & MAP_PTR_AND_OBJ) || !(maps_parent(maps, i) >= 0 || maps->inner);
}

/* Of an item that is no list of dimensions. Where a section ends before it begins flang passes less
 * than none. */
static inline size_t maps_bytes(const struct maps *maps, int i)
{
    return maps->sizes[i] > 0 ? (size_t)maps->sizes[i] : 0;
}

/* What is neither mapped nor moved: values, private variables. */
static inline bool map_is_private(int64_t type)
{
    return (type & (MAP_LITERAL | MAP_PRIVATE)) != 0;
}

/* Could a compiler have made it? All that follows relies on it. Also finds whether its items are
 * apart. False: reported, a size, a type or a number that cannot be. */
bool maps_are_valid(const struct work *work, struct maps *maps);

/* Is it there only for pointers on the way to what other items are for? See way.c. */
bool maps_lead_to_others(const struct maps *maps, int i);

static inline bool maps_lead(const struct maps *maps, int i)
{
    return i + 1 < maps->count &&
           ((maps->types[i + 1] & MAP_PTR_AND_OBJ) || maps_parent(maps, i + 1) >= 0) &&
           maps_lead_to_others(maps, i);
}

/* Is it a descriptor, and the next item the pointer in it, which leads to what comes behind it? It
 * is moved, as its own flags say; but its structure is not mapped for it. */
bool maps_lie_around_way(const struct maps *maps, int i);

/* Entering, in two: what a list means for the table, and what is to be moved for that; the latter
 * is in the work's moves, and is sent by moves_issue(). Only where somebody is told of each step
 * (LIBOMPTARGET_INFO, OMPT) it is sent with its item. */
bool maps_resolve(struct work *work, const struct maps *maps);
bool moves_issue(struct work *work);

/* Leaving: what a list takes off, and what comes back because the construct ends its range. */
bool maps_settle(struct work *work, const struct maps *maps);

/* What constructs without a kernel do: all of entering, and an update. */
bool maps_enter(struct work *work, const struct maps *maps);
bool maps_update(struct work *work, const struct maps *maps);

/* The device address that corresponds to a host range that is mapped; 0: it is not. */
static inline omprma_addr_t maps_look_up(struct work *work, const void *begin, size_t bytes)
{
    struct mapped *mapped;
    enum overlap overlap =
        mapping_find(&work->device->space->mapping, (uintptr_t)begin, bytes, &mapped);
    return overlap == OVERLAP_INSIDE ? mapped_address(mapped, (uintptr_t)begin) : 0;
}

/* Calls for each item that is around others in front of it, and no part itself: as a construct
 * counts a range once, it may be entered there and again in its turn. */
typedef bool wholes_function(struct work *work, const struct maps *maps, int i);
bool wholes_each(struct work *work, const struct maps *maps, wholes_function *call);

/* ---- moves, for the parts of this module ---- */

bool moves_add_grown(struct work *work, struct move move);

static inline bool moves_add(struct work *work, struct move move)
{
    struct moves *moves = &work->moves;
    if (moves->count == moves->room)
        return moves_add_grown(work, move);
    moves->list[moves->count++] = move;
    moves->others += !move.plain;
    return true;
}

static inline void moves_begin(struct work *work)
{
    work->moves.count = work->moves.others = 0;
}

/* All of the range. */
static inline struct move move_of_range(enum move_kind kind, struct mapped *mapped)
{
    return (struct move){.kind = kind,
                         .range = mapped,
                         .begin = mapped->begin,
                         .bytes = mapped->end - mapped->begin};
}

/* One that is not in the list. */
bool move_issue(struct work *work, const struct move *move);

/* The pointer at `pointer`, which lies in `range`, is to point there to what the host's points to,
 * which lies in `pointee` (NULL: nowhere). `bytes`: of the pointer, more than 8 for one with a
 * descriptor. *move: what that takes. */
bool pointer_attach(struct work *work, struct mapped *range, uintptr_t pointer, size_t bytes,
                    struct mapped *pointee, struct move *move);

/* Of attach items, when all others have been entered. */
bool attachments_decide(struct work *work);

/* Is somebody told of each step? */
static inline bool maps_are_told(void)
{
    return info_wants(INFO_ANY) || ompt_is_on();
}

/* ---- plain items, see plain.c ---- */

/* Mapped there, back, or both, and no more: mostly a whole variable. */
static inline bool map_is_plain(int64_t type)
{
    return !(type & ~(int64_t)(MAP_TO | MAP_FROM | MAP_TARGET_PARAM | MAP_IMPLICIT));
}

/* Of a list that may go plainly: may this item? */
static inline bool maps_item_is_plain(const struct maps *maps, int i)
{
    return map_is_plain(maps->types[i]) && !maps_lead(maps, i);
}

/* Nobody wants to be told of each step, or may have to be given everything back. */
bool maps_go_plainly(const struct work *work, const struct maps *maps);

/* False: it has not been entered, and has to go the long way; the same with leaving it. */
bool plain_enter(struct work *work, const struct maps *maps, int i);
bool plain_leave(struct work *work, const struct maps *maps, int i);

/* ---- mappers ---- */

typedef bool maps_function(struct work *work, const struct maps *maps);

/* Calls the item's mapper and then `call` with what it made. */
bool mapper_run(struct work *work, const struct maps *maps, int i, maps_function *call);

#endif
