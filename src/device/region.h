/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* region.h: what is known of the region that the calling thread has begun. */
#ifndef DEVICE_REGION_H
#define DEVICE_REGION_H

#include <stdint.h>

/* How many threads the region's parallel constructs get at most, 0: no bound. Holds on the thread
 * that has begun the region while that is outside parallel constructs. */
struct region {
    int32_t threads_default; /* where the construct does not say how many */
    int32_t threads_clause;  /* where it does */
    int32_t limit_outside;   /* libomp's limit before the region; 0: it was not changed */
};

extern _Thread_local struct region region_current;

#endif
