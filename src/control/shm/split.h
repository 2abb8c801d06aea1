/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * split.h: a copy between memory of this process and an arena that it has mapped. Of a large one
 * the thread that copies (copier.h) takes pieces as well: one processor alone does not get all that
 * the memory gives.
 *
 * Thread: one at a time for each, beside that of the copier. Blocks: split_progress(), for about as
 * long as it takes to copy a huge page; split_leave(), for a piece of the other thread.
 */
#ifndef OMPRMA_CONTROL_SHM_SPLIT_H
#define OMPRMA_CONTROL_SHM_SPLIT_H

#include <stdatomic.h>

#include "control/shm/arena.h"
#include "control/shm/copier.h"

enum { SPLIT_LEAST = 2 << 20 /* bytes: less may lie in the caches of one processor */ };

struct split {
    const struct arena *arena;
    struct transfer *what;
    struct copier *copier;
    struct copying *helper;         /* NULL: the thread has no part in it */
    _Atomic(uint64_t) taken, moved; /* bytes, by both */
    int64_t alone_ns;               /* since when nothing is left to take; 0: not yet */
};

/* Begins a copy of what the transfer describes. All stay until it is over, and what is copied is in
 * the arena. `copier`: NULL for no help. */
void split_begin(struct split *split, struct copier *copier, const struct arena *arena,
                 struct transfer *what);

/* Copies the next piece, if one is left, and notes in the transfer what has come so far. True: that
 * is all; nothing uses the memory any more. */
bool split_progress(struct split *split);

/* Leaves one that is not over: nothing uses the memory any more. */
void split_leave(struct split *split);

#endif
