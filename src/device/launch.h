/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* launch.h: the first word that omprma's OpenMP runtime calls kernels of clang and flang 18 and
 * later with. In LLVM it is a pointer, or NULL; clang's code for x86-64 does not look at it. Here
 * it says what flang tells only the host: the thread limit of this launch. No pointer looks like
 * that. */
#ifndef DEVICE_LAUNCH_H
#define DEVICE_LAUNCH_H

#include <stdint.h>

#define LAUNCH_LIMIT_MARK UINT64_C(0x6f6d707200000000)

/* 0: no limit. */
static inline uint64_t launch_word(uint32_t limit)
{
    return limit > 0 && limit <= INT32_MAX ? LAUNCH_LIMIT_MARK | limit : 0;
}

static inline int32_t launch_limit(uint64_t word)
{
    return word >> 32 == LAUNCH_LIMIT_MARK >> 32 ? (int32_t)(word & INT32_MAX) : 0;
}

#endif
