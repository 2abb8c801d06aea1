/*
 * paths.h: which way a transfer goes, by direction and size, for one device. Filled by measurement
 * (measure.c) or by force (OMPRMA_DATA), and consulted for every transfer.
 */
#ifndef OMPRMA_HOST_PATHS_H
#define OMPRMA_HOST_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"

/* PATH_APPLICATION: from device to device through the application's memory. */
enum path { PATH_INLINE, PATH_RMA, PATH_TWO_SIDED, PATH_APPLICATION, PATH_COUNT };

enum { PATHS_SIZES = 7 }; /* sizes measured; dense where transports change their protocol */

struct paths {
    uint32_t inline_submit;                      /* up to this size in the message */
    uint32_t inline_retrieve;                    /* with a result of its own */
    uint32_t inline_retrieve_fused;              /* riding on a result that is wanted anyway */
    uint64_t submit_rma_from, submit_rma_to;     /* sizes in [from, to) go one-sided */
    uint64_t retrieve_rma_from, retrieve_rma_to; /* the rest two-sided */

    /* What was measured, microseconds; 0: not measured. */
    double submit_us[PATH_COUNT][PATHS_SIZES];
    double retrieve_us[PATH_COUNT][PATHS_SIZES];
    double round_trip_us;
};

/* Below this an exchange is put where that is possible: one message, and no measurement to rely on.
 */
enum { EXCHANGE_SMALL = 64 << 10 };

/* The ways from device to device, for all pairs of one host or all pairs of different hosts. */
struct exchange_paths {
    enum config_exchange way; /* never EXCHANGE_AUTO */
    bool small_put;           /* small data is put in any case */
    double us[EXCHANGE_WAYS]; /* 1 MiB, measured; 0: not measured */
};

extern const uint64_t paths_sizes[PATHS_SIZES];
extern const char *const paths_names[PATH_COUNT];

/* The way for one transfer of `bytes` inside an arena that is not inline. */
static inline enum path paths_bulk(const struct paths *paths, bool submit, uint64_t bytes)
{
    uint64_t from = submit ? paths->submit_rma_from : paths->retrieve_rma_from;
    uint64_t to = submit ? paths->submit_rma_to : paths->retrieve_rma_to;

    return bytes >= from && bytes < to ? PATH_RMA : PATH_TWO_SIDED;
}

#endif
