/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stats.h: what --stats counts: per device what data went which way, and launches. An observer of
 * operations (observer.h), registered where somebody wants the figures.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_REPORT_STATS_H
#define OMPRMA_HOST_REPORT_STATS_H

#include "host/core/runtime.h"

struct stats_cell {
    uint64_t operations, bytes;
    int64_t ns; /* from start to completion; 0 for inline: they ride along */
};

/* Of a device. */
struct stats {
    struct stats_cell cell[DATA_KINDS][PATH_COUNT];
    uint64_t launches;
};

/* Counts from now on, if OMPRMA_STATS says so. Errors: HOST_MEMORY. */
omprma_status_t stats_open(struct runtime *runtime);

/* Of a device, by its number; after stats_open(), with OMPRMA_STATS. */
const struct stats *stats_of(const struct runtime *runtime, int device);

void stats_close(struct runtime *runtime);

#endif
