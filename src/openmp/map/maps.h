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
#include <stdlib.h>

#include "openmp/abi/abi.h"
#include "openmp/run/work.h"

/* The arrays that a construct passes. */
struct maps {
    int32_t count;
    void **bases, **begins;
    int64_t *sizes, *types;
    void **names, **mappers; /* either may be NULL */
    const int32_t *parents;  /* of a mapper's items, of which there may be more than their types can
                              * number; NULL: the types say it */
    bool inner;              /* a mapper made it for a part of something that is mapped itself */
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

/* Could a compiler have made it? All that follows relies on it. False: reported, a size, a type or
 * a number that cannot be. */
bool maps_are_valid(const struct work *work, const struct maps *maps);

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

/* Of a list that grows: where it has no room for one more of `bytes`, it gets twice as much. The
 * list; NULL: no memory, and it is as before. */
static inline void *list_with_room(void *list, size_t count, size_t *room, size_t bytes)
{
    enum { FIRST = 8 };
    size_t more = *room ? 2 * *room : FIRST;
    if (count < *room)
        return list;
    list = reallocarray(list, more, bytes);
    *room = list ? more : *room;
    return list;
}

bool maps_enter(struct work *work, const struct maps *maps);
bool maps_leave(struct work *work, const struct maps *maps);
bool maps_update(struct work *work, const struct maps *maps);

/* The device address that corresponds to a host range that is mapped; 0: it is not. */
omprma_addr_t maps_look_up(struct work *work, const void *begin, size_t bytes);

/* Calls for each item that is around others in front of it, and no part itself: as a construct
 * counts a range once, it may be entered there and again in its turn. */
typedef bool wholes_function(struct work *work, const struct maps *maps, int i);
bool wholes_each(struct work *work, const struct maps *maps, wholes_function *call);

/* ---- moving data, for the parts of this module ---- */

/* Host to device, leaving pointers on the device that point to device memory as they are. */
bool range_submit(struct work *work, struct mapped *mapped, const void *begin, size_t bytes);

/* Device to host; pointers on the host stay as they are. */
bool range_retrieve(struct work *work, struct mapped *mapped, void *begin, size_t bytes);

/* The same of runs that lie in the range as the shape says at both ends. *done is false, and
 * nothing is moved, where each has to be looked at: there are pointers among them, or somebody is
 * told of each, or what comes back has to wait. */
bool range_submit_runs(struct work *work, struct mapped *mapped, const void *begin,
                       const omprma_shape_t *shape, bool *done);
bool range_retrieve_runs(struct work *work, struct mapped *mapped, void *begin,
                         const omprma_shape_t *shape, bool *done);

/* Writes all attached pointers to the device, where their range is new. */
bool pointers_submit(struct work *work, struct mapped *mapped);

/* Lets the device's copy of the pointer at `pointer`, which lies in `mapped`, point to what the
 * host's points to: `pointee`, on the device `address` (0: nowhere). `bytes`: of the pointer, more
 * than 8 for one with a descriptor. */
bool pointer_attach(struct work *work, struct mapped *mapped, void *pointer, size_t bytes,
                    const void *pointee, omprma_addr_t address);

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

typedef bool maps_function(struct work *work, const struct maps *maps, void *context);

/* Calls the item's mapper and then `call` with what it made. */
bool mapper_run(struct work *work, const struct maps *maps, int i, maps_function *call,
                void *context);

#endif
