/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * split.h: a copy between memory of this process and an arena that it has mapped, made by several
 * threads at once: each takes the next piece. One processor alone does not get all that the memory
 * gives.
 *
 * Thread: any, any number at a time, but for split_begin(). Blocks: split_move(), for about as long
 * as it takes to copy a huge page.
 */
#ifndef OMPRMA_CONTROL_SHM_SPLIT_H
#define OMPRMA_CONTROL_SHM_SPLIT_H

#include <stdatomic.h>

#include "control/shm/arena.h"

struct split {
    const struct arena *arena;
    const struct transfer *what;    /* of it what its owner fills; both stay until it is over */
    _Atomic(uint64_t) taken, moved; /* bytes */
};

void split_begin(struct split *split, const struct arena *arena, const struct transfer *what);

/* Copies the next piece, and returns its bytes. 0: others have taken all that was left. */
uint64_t split_move(struct split *split);

/* Bytes that are where they belong: all of them once it is over. */
static inline uint64_t split_moved(struct split *split)
{
    return atomic_load_explicit(&split->moved, memory_order_acquire);
}

static inline bool split_is_taken(struct split *split)
{
    return atomic_load_explicit(&split->taken, memory_order_relaxed) == split->what->bytes;
}

/* A path by which whoever knows paths only takes part: the first bytes of the state of its transfer
 * are the address of the split. Each test() moves a piece, and is done when none is left to take.
 */
struct datapath *split_path(void);

#endif
