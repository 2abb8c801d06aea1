/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* range.h: ranges of addresses. Thread: any. */
#ifndef OMPRMA_BASE_RANGE_H
#define OMPRMA_BASE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

static inline bool ranges_meet(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* Does the range lie inside of [0, whole)? */
static inline bool range_fits(uint64_t at, uint64_t bytes, uint64_t whole)
{
    return bytes <= whole && at <= whole - bytes;
}

#endif
