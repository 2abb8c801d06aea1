/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* clock.h: monotonic time. */
#ifndef OMPRMA_BASE_CLOCK_H
#define OMPRMA_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some fixed point; about 20 ns a call. */
static inline int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#endif
