/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * slots.c: a pool is a bit per slot. Turns stand in one list in the order in which they were asked
 * for; one that comes to the front of all its pools, where all have a free slot, is handed one of
 * each and its queue is attended to. Each slot that comes back looks through the list once more.
 */
#include "host/core/slots.h"

#include <stddef.h>

#include "base/check.h"

void slots_open(struct slot_pool *pool, uint64_t base, uint64_t bytes, uint64_t slot_bytes)
{
    uint64_t count = bytes / slot_bytes;

    if (count > SLOTS_MOST)
        count = SLOTS_MOST;
    *pool = (struct slot_pool){
        .base = base, .slot_bytes = slot_bytes, .count = (int)count, .sound = (int)count};
    if (count)
        pool->free = UINT64_MAX >> (SLOTS_MOST - count);
}

static bool uses(const struct slot_turn *turn, const struct slot_pool *pool)
{
    for (int i = 0; i < turn->pools; i++)
        if (turn->pool[i] == pool)
            return true;
    return false;
}

/* One that came before it waits for a slot of one of its pools; NULL for `turn`: that comes last.
 */
static bool is_behind(const struct slot_turns *turns, const struct slot_turn *turn)
{
    for (const struct slot_turn *other = turns->first; other && other != turn; other = other->next)
        for (int i = 0; i < turn->pools; i++)
            if (uses(other, turn->pool[i]))
                return true;
    return false;
}

static bool are_free(const struct slot_turn *turn)
{
    for (int i = 0; i < turn->pools; i++)
        if (!turn->pool[i]->free)
            return false;
    return true;
}

/* Somebody waits who could have its slots. Not while whoever gives some back hands them on. */
__attribute__((unused)) static bool is_forgotten(const struct slot_turns *turns)
{
    for (const struct slot_turn *turn = turns->first; turn; turn = turn->next)
        if (slots_exist(turn) && are_free(turn) && !is_behind(turns, turn))
            return true;
    return false;
}

/* Some are. */
static int next_free(const struct slot_pool *pool)
{
    uint64_t behind = pool->free & (UINT64_MAX << pool->next);

    return __builtin_ctzll(behind ? behind : pool->free);
}

static void hand_out(struct slot_turn *turn)
{
    for (int i = 0; i < turn->pools; i++) {
        struct slot_pool *pool = turn->pool[i];
        int index = next_free(pool);

        pool->free &= ~(UINT64_C(1) << index);
        pool->next = (index + 1) % pool->count;
        turn->slot[i] = pool->base + (uint64_t)index * pool->slot_bytes;
    }
}

static void wait_for_turn(struct slot_turns *turns, struct slot_turn *turn)
{
    turn->waits = true;
    turn->next = NULL;
    if (turns->last)
        turns->last->next = turn;
    else
        turns->first = turn;
    turns->last = turn;
}

static void stop_waiting(struct slot_turns *turns, struct slot_turn *turn)
{
    struct slot_turn **link = &turns->first, *last = NULL;

    turn->waits = false;
    while (*link != turn) {
        last = *link;
        link = &last->next;
    }
    *link = turn->next;
    if (turns->last == turn)
        turns->last = last;
}

bool slots_take(struct slot_turns *turns, struct slot_turn *turn)
{
    CHECK(is_forgotten(turns), ==, false);
    if (turn->has) { /* since its turn has come */
        turn->has = false;
        return true;
    }
    if (turn->waits)
        return false;
    if (!are_free(turn) || is_behind(turns, turn)) {
        wait_for_turn(turns, turn);
        return false;
    }
    hand_out(turn);
    return true;
}

bool slots_exist(const struct slot_turn *turn)
{
    for (int i = 0; i < turn->pools; i++)
        if (turn->pool[i]->sound == 0)
            return false;
    return true;
}

/* Those whose turn has come get their slots now, so that nobody else takes them meanwhile. */
static void grant(struct slot_turns *turns)
{
    struct slot_turn *next;

    for (struct slot_turn *turn = turns->first; turn; turn = next) {
        next = turn->next;
        if (!slots_exist(turn)) {
            turn->granted(turn);
        } else if (are_free(turn) && !is_behind(turns, turn)) {
            stop_waiting(turns, turn);
            hand_out(turn);
            turn->has = true;
            turn->granted(turn);
        }
    }
    CHECK(is_forgotten(turns), ==, false);
}

void slots_give(struct slot_turns *turns, struct slot_pool *pool, uint64_t slot, bool spoilt)
{
    if (spoilt)
        pool->sound--;
    else
        pool->free |= UINT64_C(1) << (slot - pool->base) / pool->slot_bytes;
    grant(turns);
}

void slots_renew(struct slot_turns *turns, struct slot_pool *pool, uint64_t base, uint64_t bytes)
{
    slots_open(pool, base, bytes, SLOT_BYTES);
    grant(turns);
}

void slots_leave(struct slot_turns *turns, struct slot_turn *turn)
{
    if (turn->waits)
        stop_waiting(turns, turn);
    else if (turn->has)
        for (int i = 0; i < turn->pools; i++)
            slots_give(turns, turn->pool[i], turn->slot[i], false);
    else
        return;
    turn->has = false;
    grant(turns);
}
