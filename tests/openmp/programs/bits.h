/*
 * bits.h: for programs that pass values of all types to regions: bits that would be no address,
 * near nothing and near the end, of a NaN, one, all but one, any.
 */
#ifndef OMPRMA_TESTS_OPENMP_BITS_H
#define OMPRMA_TESTS_OPENMP_BITS_H

#include <stdint.h>
#include <string.h>

#include "check.h"

/* The same bits as values. */
struct bits {
    uint64_t u64;
    double d;
    float f;
    int32_t i32;
    uint16_t u16;
    int8_t i8;
    _Bool yes;
};

static inline uint64_t bits_any(unsigned *seed)
{
    uint64_t some = (uint64_t)check_draw(seed, 1 << 16), more = (uint64_t)check_draw(seed, 1 << 22);
    switch (check_draw(seed, 6)) {
    case 0:
        return some % 16;
    case 1:
        return UINT64_MAX - some % 16;
    case 2:
        return UINT64_C(1) << some % 64;
    case 3:
        return UINT32_MAX - some % 16;
    case 4:
        return ~(UINT64_C(1) << some % 64);
    default:
        return some << 48 | more << 24 | (some ^ more);
    }
}

static inline struct bits bits_draw(unsigned *seed)
{
    struct bits bits;
    memset(&bits, 0, sizeof(bits)); /* they are compared byte by byte */
    bits.u64 = bits_any(seed);
    memcpy(&bits.d, &bits.u64, sizeof(bits.d));
    memcpy(&bits.f, &bits.u64, sizeof(bits.f));
    bits.i32 = (int32_t)bits.u64;
    bits.u16 = (uint16_t)bits.u64;
    bits.i8 = (int8_t)bits.u64;
    bits.yes = bits.u64 & 1;
    return bits;
}

/* Variables of the function that has a region, and what the region sees of them. */
#define BITS_AS_VARIABLES(bits)                                                                    \
    uint64_t u64 = (bits).u64;                                                                     \
    double d = (bits).d;                                                                           \
    float f = (bits).f;                                                                            \
    int32_t i32 = (bits).i32;                                                                      \
    uint16_t u16 = (bits).u16;                                                                     \
    int8_t i8 = (bits).i8;                                                                         \
    _Bool yes = (bits).yes;

#define BITS_SEE(seen)                                                                             \
    (seen).u64 = u64, (seen).d = d, (seen).f = f, (seen).i32 = i32;                                \
    (seen).u16 = u16, (seen).i8 = i8, (seen).yes = yes;

#endif
