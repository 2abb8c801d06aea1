/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * split.c: what is taken is counted before it is copied, what was moved behind that. For the thread
 * that copies it is a path, whose transfer is over when nothing is left to take.
 */
#include "control/shm/split.h"

#include "base/clock.h"

enum {
    FEW_BYTES = 16 << 20, /* of so many nobody is to wait for long for the last piece of another */
    FEW_PIECE = 256 << 10,
    LATE_NS = 1000000 /* longer than a piece takes */
};

/* Copies the next piece. 0: nothing is left to take. */
static uint64_t take(struct split *split)
{
    uint64_t most = split->what->bytes <= FEW_BYTES ? FEW_PIECE : ARENA_HUGE_PAGE;
    uint64_t at = atomic_load_explicit(&split->taken, memory_order_relaxed), piece;

    do {
        piece = arena_piece(split->arena, split->what, at, most);
        if (piece == 0)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&split->taken, &at, at + piece,
                                                    memory_order_relaxed, memory_order_relaxed));
    arena_copy_piece(split->arena, split->what, at, piece);
    atomic_fetch_add_explicit(&split->moved, piece, memory_order_release);
    return piece;
}

/* ---- the other thread's part ---- */

static omprma_status_t helper_test(struct datapath *path, struct transfer *part, bool *done)
{
    struct split *split = *(struct split **)(void *)part->state;

    (void)path;
    part->completed += take(split);
    *done = atomic_load_explicit(&split->taken, memory_order_relaxed) == part->bytes;
    return OMPRMA_OK;
}

/* Without a thread this one copies it all. */
static void ask_for_help(struct split *split)
{
    static struct datapath path = {.name = "split", .one_sided = true, .test = helper_test};
    struct transfer part = *split->what;

    *(struct split **)(void *)part.state = split;
    if (copier_copy(split->copier, &path, &part, &split->helper) != OMPRMA_OK)
        split->helper = NULL;
}

/* ---- the owner's ---- */

void split_begin(struct split *split, struct copier *copier, const struct arena *arena,
                 struct transfer *what)
{
    what->issued = what->completed = 0;
    split->arena = arena;
    split->what = what;
    split->copier = copier;
    split->helper = NULL;
    split->alone_ns = 0;
    atomic_init(&split->taken, 0);
    atomic_init(&split->moved, 0);
    if (what->bytes >= SPLIT_LEAST && copier && copier_may_help(copier))
        ask_for_help(split);
}

void split_leave(struct split *split)
{
    if (split->helper)
        copier_leave(split->copier, split->helper);
    split->helper = NULL;
}

static bool progress_together(struct split *split)
{
    struct transfer *what = split->what;
    bool took = take(split) > 0;

    what->completed = atomic_load_explicit(&split->moved, memory_order_acquire);
    what->issued = what->completed;
    if (!took && !split->alone_ns)
        split->alone_ns = clock_ns();
    if (what->completed < what->bytes)
        return false;
    copier_has_helped(split->copier, split->alone_ns && clock_ns() - split->alone_ns > LATE_NS);
    split_leave(split);
    return true;
}

bool split_progress(struct split *split)
{
    return split->helper ? progress_together(split) : arena_move(split->arena, split->what);
}
