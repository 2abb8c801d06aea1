/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * variables.h: what native devices are asked about variables of images, where several devices are
 * to have the same ones: which words were written, and what others have written. It belongs to
 * libomprma.so of the same version and is not installed.
 *
 * A device watches ranges of its memory, numbered as they come. It knows a last common value of
 * each of their words, and writes down, in a log in its memory, what differs from it. Bytes are
 * exact: two devices may write one word, but not one byte of it.
 */
#ifndef OMPRMA_PRIVATE_VARIABLES_H
#define OMPRMA_PRIVATE_VARIABLES_H

#include <stdint.h>

/* The name of a kernel that native devices add to each image. Launched with a demand and its words,
 * see there. */
#define OMPRMA_SYMBOL_VARIABLES "__omprma_variables"

/* The first word, and what follows. */
enum omprma_variables_demand {
    /* The address of ranges, how many, and whether they are the first ones. What they hold now is
     * the common value. The first word of the first range becomes 0, or, where a variable has an
     * address of memory that is only the device's own, that address. */
    OMPRMA_VARIABLES_WATCH,
    /* The address of a log, the bytes that it has room for, and how many of those that were ever
     * written there have been read. Appends what was written since. */
    OMPRMA_VARIABLES_NOTE,
    /* The address of records and their bytes: writes them, and they are the common value. */
    OMPRMA_VARIABLES_WRITE,
    /* The address of a search: looks in its places, which need not be variables, for an address. */
    OMPRMA_VARIABLES_SEARCH,
    /* The address of sums, and 1 when they were made before: makes them, or compares. */
    OMPRMA_VARIABLES_SUM
};

typedef struct {
    uint64_t at, bytes;
} omprma_variables_range_t;

enum {
    OMPRMA_VARIABLES_LEFT = 1, /* something did not fit, and was left for the next time */
    OMPRMA_VARIABLES_TORN = 2  /* what others have written was written here, too, and is lost */
};

/* Heads a log. What comes after it are bytes that are written in turn, again and again. */
typedef struct {
    uint64_t end;  /* bytes written so far, ever */
    uint64_t more; /* of the two: */
} omprma_variables_log_t;

/* Of words that follow each other: behind it a mask of the bytes that count for each, together
 * filled up to 8 bytes, and then all words. `is_address`: one word, and what it has is an address
 * of the device's memory. */
typedef struct {
    uint32_t range, first, words;
    uint32_t is_address;
} omprma_variables_record_t;

/* A place to look in, and the memory that it is a part of. */
typedef struct {
    uint64_t at, bytes, begin, end;
} omprma_variables_place_t;

/* Heads a list of places. Addresses that count are in [low, high) or lead to memory that is only
 * the device's own, and not to that which they lie in themselves. */
typedef struct {
    uint64_t low, high, count;
    uint64_t found; /* the first one; 0: there is none */
} omprma_variables_search_t;

/* A place, which need not be one of variables, and a sum of what it holds. */
typedef struct {
    uint64_t at, bytes, sum;
} omprma_variables_sum_t;

/* Heads a list of sums. */
typedef struct {
    uint64_t count;
    uint64_t changed; /* the first one that is another one now, from 1; 0: none is */
} omprma_variables_sums_t;

/* Of a record's masks. */
static inline uint64_t omprma_variables_masks(uint64_t words)
{
    return (words + 7) / 8 * 8;
}

/* Of a whole record. */
static inline uint64_t omprma_variables_bytes(uint64_t words)
{
    return sizeof(omprma_variables_record_t) + omprma_variables_masks(words) + 8 * words;
}

#endif
