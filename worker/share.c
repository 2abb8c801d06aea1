/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* share.c: round robin. */
#include "worker/share.h"

static bool is_told(const struct share_wish *wish)
{
    return wish->rank >= 0 && wish->rank < wish->size;
}

bool share_reaches_far(const struct share_wish *wish)
{
    return !is_told(wish) || wish->slots == 0;
}

bool share_is_split(const struct share_wish *wish)
{
    return wish->split && is_told(wish);
}

int share_slots(const struct share_wish *wish, int *slots)
{
    int first = 0, step = 1, count = 0;

    if (wish->slots > 0 && share_is_split(wish)) {
        first = wish->rank % wish->slots;
        step = wish->size < wish->slots ? wish->size : wish->slots;
    }
    for (int slot = first; slot < wish->slots; slot += step)
        slots[count++] = slot;
    return count;
}

int share_processes(const struct share_wish *wish)
{
    if (!is_told(wish))
        return 0;
    if (wish->slots == 0)
        return wish->size;
    if (!share_is_split(wish))
        return wish->size * (1 + wish->slots);
    return wish->size + (wish->size > wish->slots ? wish->size : wish->slots);
}
