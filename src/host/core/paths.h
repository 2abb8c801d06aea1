/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * paths.h: which path a transfer takes, by direction and size, for one device: two thresholds.
 * Filled by measurement (measure.c) or by force (OMPRMA_DATA), revised while the program runs
 * (adapt.c), and consulted for every transfer.
 */
#ifndef OMPRMA_HOST_CORE_PATHS_H
#define OMPRMA_HOST_CORE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <omprma/omprma.h>

#include "base/config.h"

/* PATH_APPLICATION: from device to device through the application's memory. PATH_THREAD:
 * within a host, by a thread of ours beside which the program computes. PATH_PACKED: runs, through
 * memory that both ends have. PATH_SHARED: within a host, copied by the program. */
enum path {
    PATH_INLINE,
    PATH_RMA,
    PATH_TWO_SIDED,
    PATH_APPLICATION,
    PATH_THREAD,
    PATH_PACKED,
    PATH_SHARED,
    PATH_COUNT
};

/* What data is carried for, in users' words. */
enum data_kind { DATA_SUBMIT, DATA_RETRIEVE, DATA_EXCHANGE, DATA_KINDS };

enum paths_direction { PATHS_SUBMIT, PATHS_RETRIEVE, PATHS_DIRECTIONS };

struct adapt_kind;

/* What a transfer of some bytes takes: us + us_per_kib * bytes / 1024. */
struct cost {
    double us; /* 0: unknown */
    double us_per_kib;
    float spread; /* of the samples, see cost_spread() */
    int samples;  /* how many there were of the size that has fewer */
};

#define COST_NEVER UINT64_MAX /* the threshold of a path that is not taken */

struct paths {
    uint32_t inline_submit;         /* up to this size in the message */
    uint32_t inline_retrieve;       /* with a result of its own */
    uint32_t inline_retrieve_fused; /* riding on a result that is wanted anyway */
    /* From so many bytes on, one-sided; what is less, and not in a message, goes two-sided. */
    uint64_t rma_from[PATHS_DIRECTIONS];
    /* The same for up to OMPRMA_COPIED_SUBMIT bytes, which real transfers do not correct. */
    uint64_t small_rma_from[PATHS_DIRECTIONS];
    bool shared; /* what is not in a message is copied by the program, where it has the arena, or
                  * the staging memory */
    struct adapt_kind *adapt; /* what real transfers tell; NULL: the choice stays */

    /* What was measured. */
    struct cost cost[PATHS_DIRECTIONS][PATH_COUNT];
    bool near;           /* within a host */
    bool two_sided_only; /* nothing is known of one-sided transfers, they took far longer, or
                          * calls wait */
    uint32_t at_once;    /* bytes that shared memory takes in a message at once; 0: there is none */
    double round_trip_us;
};

/* Below this an exchange is put where that is possible: one message, and no measurement to rely on.
 */
enum { EXCHANGE_SMALL = 64 << 10 };

/* The ways from device to device, for all pairs of one host or all pairs of different hosts. */
struct exchange_paths {
    enum config_exchange way; /* never EXCHANGE_AUTO */
    bool copies;    /* in place of that, the source copies by itself where it can map the memory */
    bool small_put; /* small data is put in any case */
    double us[EXCHANGE_WAYS]; /* 1 MiB, measured; 0: not measured */
    float spread[EXCHANGE_WAYS];
};

extern const char *const paths_names[PATH_COUNT];
extern const char *const data_names[DATA_KINDS];

enum { PATHS_WORDS = 64 };

/* "rma from 64 KiB on, two-sided below", for users. */
const char *paths_words(uint64_t rma_from, char *text, size_t room);

/* "64 KiB" */
const char *paths_size(uint64_t bytes, char *text, size_t room);

/* The thresholds of a direction, for all sizes. */
static inline void paths_set(struct paths *paths, enum paths_direction direction, uint64_t rma_from)
{
    paths->rma_from[direction] = paths->small_rma_from[direction] = rma_from;
}

/* Whether a transfer of `bytes` inside an arena that is not inline goes one-sided. */
static inline bool paths_one_sided(const struct paths *paths, bool submit, uint64_t bytes)
{
    const uint64_t *from = bytes <= OMPRMA_COPIED_SUBMIT ? paths->small_rma_from : paths->rma_from;

    return bytes >= from[submit ? PATHS_SUBMIT : PATHS_RETRIEVE];
}

#endif
