/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * slots.h: memory of bounded size in which data stops that cannot go straight (staged.c): the
 * staging memory of a device, in its worker, and memory of the program. It is handed out in slots
 * of one size, and here is decided who gets some when:
 *
 *   - Whoever needs slots takes all that it needs for one piece of its data at once, one of each of
 *     its pools, or none. So nobody has a slot while it waits for another.
 *   - Who has slots needs no more than what workers answer to commands of its own queues, in which
 *     nothing else stands. So it gives them back, whatever others wait for: no circle can close.
 *   - A slot is handed out again as late as possible. Who used it last may still have it in its
 *     cache, and writing to that from another processor takes several times as long.
 *   - Turns are taken in the order in which they were asked for. Who waits has its pools reserved:
 *     nobody behind it takes a slot of one of them, so whoever needs slots of several pools gets
 *     them too. After each piece it stands at the end again, so queues take turns by pieces.
 *
 * Thread: with runtime->lock held. Blocks: never.
 */
#ifndef OMPRMA_HOST_CORE_SLOTS_H
#define OMPRMA_HOST_CORE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SLOT_BYTES = 1 << 20,
    SLOTS_MOST = 64,
    SLOT_POOLS_MOST = 3 /* of one turn: source, program, destination */
};

struct slot_pool {
    uint64_t base, slot_bytes;
    uint64_t free; /* bit n: slot n is */
    int next;      /* the first that may be handed out; behind the last one comes the first */
    int count;     /* that there are; */
    int sound;     /* without those that were spoilt */
};

/* Somebody who needs slots. Zero, but for pools and `granted`, when it asks for the first time. */
struct slot_turn {
    struct slot_pool *pool[SLOT_POOLS_MOST];
    int pools;
    uint64_t slot[SLOT_POOLS_MOST];      /* out: their addresses */
    void (*granted)(struct slot_turn *); /* its turn has come, or never will: it asks again */
    bool waits, has;
    struct slot_turn *next; /* of those that wait */
};

struct slot_turns {
    struct slot_turn *first, *last;
};

/* Makes slots of [base, base + bytes); none for 0 bytes. */
void slots_open(struct slot_pool *pool, uint64_t base, uint64_t bytes, uint64_t slot_bytes);

/* The same for a pool that had none, or whose slots are all spoilt, and hands them out. */
void slots_renew(struct slot_turns *turns, struct slot_pool *pool, uint64_t base, uint64_t bytes);

/* True, and turn->slot is set, if the slots are there now; else `granted` is called later. */
bool slots_take(struct slot_turns *turns, struct slot_turn *turn);

/* False: all slots of some pool of the turn are spoilt, so it never comes. */
bool slots_exist(const struct slot_turn *turn);

/* Gives one back. `spoilt`: something may still be written to it at any time, so nobody uses it any
 * more. */
void slots_give(struct slot_turns *turns, struct slot_pool *pool, uint64_t slot, bool spoilt);

/* It needs none any more. */
void slots_leave(struct slot_turns *turns, struct slot_turn *turn);

/* Slots that are not free. */
static inline int slots_used(const struct slot_pool *pool)
{
    return pool->count - __builtin_popcountll(pool->free);
}

#endif
