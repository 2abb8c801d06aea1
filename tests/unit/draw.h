/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* draw.h: numbers that look random, the same ones for the same seed. */
#ifndef OMPRMA_TESTS_DRAW_H
#define OMPRMA_TESTS_DRAW_H

#include <stdint.h>

struct draw {
    uint64_t state;
};

static inline uint64_t draw(struct draw *from)
{
    from->state ^= from->state << 13;
    from->state ^= from->state >> 7;
    from->state ^= from->state << 17;
    return from->state * UINT64_C(2685821657736338717);
}

static inline uint64_t draw_below(struct draw *from, uint64_t limit)
{
    return (draw(from) >> 16) % limit;
}

#endif
