/*
 * stats.h: counters per device: operations, bytes and time by kind and path. Updated by
 * the files that do the work, which report.h prints.
 */
#ifndef OMPRMA_HOST_STATS_H
#define OMPRMA_HOST_STATS_H

#include <stdint.h>
#include <stdio.h>

#include "host/paths.h"

enum stats_kind { STATS_SUBMIT, STATS_RETRIEVE, STATS_EXCHANGE, STATS_KINDS };

struct stats_cell {
    uint64_t operations, bytes;
    int64_t ns; /* from start to completion; 0 for inline: they ride along */
};

struct stats {
    struct stats_cell cell[STATS_KINDS][PATH_COUNT];
    uint64_t launches;
    uint64_t allocs, frees;
};

/* Counts one operation. `ns`: from start to completion, 0 if that is not measured. */
static inline void stats_count(struct stats *stats, enum stats_kind kind, enum path path,
                               uint64_t bytes, int64_t ns)
{
    struct stats_cell *cell = &stats->cell[kind][path];

    cell->operations++;
    cell->bytes += bytes;
    cell->ns += ns;
}

#endif
