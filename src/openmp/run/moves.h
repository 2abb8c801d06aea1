/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * moves.h: what a construct moves between the host and its device, as a list. Maps and motion
 * clauses are resolved to it, see map/maps.h; then it is issued. Its memory is the work's, and kept
 * for the next one.
 *
 * Thread: the work's. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_RUN_MOVES_H
#define OMPRMA_OPENMP_RUN_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

struct mapped;

enum move_kind {
    MOVE_CLEAR,    /* the device's bytes are zero, see enter.c */
    MOVE_TO,       /* the host's bytes go to the device; attached pointers stay there */
    MOVE_FROM,     /* the device's come back; attached pointers stay on the host */
    MOVE_POINTERS, /* attached pointers go there that the device does not have yet */
    MOVE_ATTACH,   /* not decided yet: that, or nothing */
    MOVE_NOTHING   /* the construct uses the range after who moved its data last */
};

struct move {
    enum move_kind kind;
    bool plain;    /* of a plain item, see plain.c */
    bool always;   /* FROM: also of a range that goes on; ATTACH: also where nothing is new */
    bool constant; /* FROM: not to memory that may not be written */
    struct mapped *range; /* ATTACH: not known yet */
    uintptr_t begin;      /* on the host */
    size_t bytes;
    union {
        const omprma_shape_t *shape; /* of the runs that are moved, from `begin` on; NULL: all */
        uintptr_t pointee;           /* of ATTACH */
    };
};

struct moves {
    struct move *list;
    size_t count, room;
    size_t others; /* not plain; none: 0 */
};

#endif
