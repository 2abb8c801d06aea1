/*
 * maps.h: what map clauses mean: entering and leaving a data environment, motion clauses. Only the
 * meaning: ranges are kept by mapping.h, moved by work.h.
 *
 * Thread: the caller holds the lock of the work's device around each call. Blocks: when the work's
 * queue is full. Errors: false means that it was reported; what was issued goes on.
 */
#ifndef OMPRMA_OPENMP_MAPS_H
#define OMPRMA_OPENMP_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openmp/abi.h"
#include "openmp/work.h"

/* The arrays that a construct passes. */
struct maps {
    int32_t count;
    void **bases, **begins;
    int64_t *sizes, *types;
    void **names, **mappers; /* either may be NULL */
    bool inner;              /* a mapper made it for a part of something that is mapped itself */
    struct mapped **entered; /* what each item of a region has entered: NULL, nothing or not known,
                              * and it is to be looked up; NULL: of none */
    bool plainly;            /* plain items may go the short way */
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

/* What is neither mapped nor moved: values, private variables. */
static inline bool map_is_private(int64_t type)
{
    return (type & (MAP_LITERAL | MAP_PRIVATE)) != 0;
}

/* What no compiler makes, and so is reported: sizes, types and numbers that cannot be. All that
 * follows relies on it. */
bool maps_are_damaged(const struct work *work, const struct maps *maps);

bool maps_enter(struct work *work, const struct maps *maps);
bool maps_leave(struct work *work, const struct maps *maps);
bool maps_update(struct work *work, const struct maps *maps);

/* The device address that corresponds to a host range that is mapped; 0: it is not. */
omprma_addr_t maps_look_up(struct work *work, const void *begin, size_t bytes);

/* ---- moving data, for the parts of this module ---- */

/* Host to device, leaving pointers on the device that point to device memory as they are. */
bool range_submit(struct work *work, struct mapped *mapped, const void *begin, size_t bytes);

/* Device to host; pointers on the host stay as they are. */
bool range_retrieve(struct work *work, struct mapped *mapped, void *begin, size_t bytes);

/* Lets the device's copy of the pointer at `pointer`, which lies in `mapped`, point to what the
 * host's points to: `pointee`, on the device `address` (0: nowhere). `bytes`: of the pointer, more
 * than 8 for one with a descriptor. */
bool pointer_attach(struct work *work, struct mapped *mapped, void *pointer, size_t bytes,
                    const void *pointee, omprma_addr_t address);

/* ---- plain items, see plain.c; `maps` are those of a region, with `entered` and `plainly` ---- */

/* Mapped there, back, or both, and no more: mostly a whole variable. */
static inline bool map_is_plain(int64_t type)
{
    return !(type & ~(int64_t)(MAP_TO | MAP_FROM | MAP_TARGET_PARAM | MAP_IMPLICIT));
}

/* Nobody wants to be told of each step, or may have to be given everything back. */
bool maps_go_plainly(const struct work *work);

/* False: it has not been entered, and has to go the long way; the same with leaving it. */
bool plain_enter(struct work *work, const struct maps *maps, int i);
bool plain_leave(struct work *work, const struct maps *maps, int i);

/* ---- mappers ---- */

typedef bool maps_function(struct work *work, const struct maps *maps, void *context);

/* Calls the item's mapper and then `call` with what it made. */
bool mapper_run(struct work *work, const struct maps *maps, int i, maps_function *call,
                void *context);

#endif
