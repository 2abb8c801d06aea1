/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* split.c: what is taken is counted before it is copied, what was moved behind that. */
#include "control/shm/split.h"

/* Where there are few pieces nobody is to wait for long for the last one of another. */
enum { FEW_BYTES = 16 << 20, FEW_PIECE = 256 << 10 };

void split_begin(struct split *split, const struct arena *arena, const struct transfer *what)
{
    split->arena = arena;
    split->what = what;
    atomic_init(&split->taken, 0);
    atomic_init(&split->moved, 0);
}

uint64_t split_move(struct split *split)
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

static omprma_status_t start(struct datapath *path, struct transfer *transfer)
{
    (void)path;
    (void)transfer;
    return OMPRMA_OK;
}

static omprma_status_t test(struct datapath *path, struct transfer *transfer, bool *done)
{
    struct split *split = *(struct split **)(void *)transfer->state;

    (void)path;
    transfer->completed += split_move(split);
    *done = split_is_taken(split);
    return OMPRMA_OK;
}

struct datapath *split_path(void)
{
    static struct datapath path = {
        .name = "split", .one_sided = true, .start = start, .test = test};

    return &path;
}
