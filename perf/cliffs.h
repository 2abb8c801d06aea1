/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cliffs.h: what the programs of perf/cliffs share: the clock, and constructs as compilers pass
 * them. */
#ifndef OMPRMA_PERF_CLIFFS_H
#define OMPRMA_PERF_CLIFFS_H

#include <stdint.h>
#include <time.h>

static inline double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

typedef void data_entry(void *where, int64_t device, int32_t count, void **bases, void **begins,
                        int64_t *sizes, int64_t *types, void **names, void **mappers);
extern data_entry __tgt_target_data_begin_mapper, __tgt_target_data_end_mapper,
    __tgt_target_data_update_mapper;

enum { RELEASE = 0, TO = 1, FROM = 2 }; /* types of maps */

#endif
