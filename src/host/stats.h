/*
 * stats.h: counters per device: operations, bytes and time by kind and path, messages. Updated by
 * the files that do the work, printed at the end with --stats.
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
    uint64_t launches, messages_out, messages_in, message_bytes_out, message_bytes_in;
    uint64_t allocs, frees;
};

struct runtime;

/* Prints a table per device. */
void stats_print(struct runtime *runtime, FILE *out);

#endif
