/*
 * paths.h: which way a transfer goes, by direction and size, for one device. Filled by measurement
 * (measure.c) or by force (OMPRMA_DATA), and consulted for every transfer.
 */
#ifndef OMPRMA_HOST_PATHS_H
#define OMPRMA_HOST_PATHS_H

#include <stdbool.h>
#include <stdint.h>

enum path { PATH_INLINE, PATH_RMA, PATH_TWO_SIDED, PATH_COUNT };

enum { PATHS_SIZES = 7 }; /* sizes measured; dense where transports change their protocol */

struct paths {
    uint32_t inline_submit;                      /* up to this size in the message */
    uint32_t inline_retrieve;                    /* with a result of its own */
    uint32_t inline_retrieve_fused;              /* riding on a result that is wanted anyway */
    uint64_t submit_rma_from, submit_rma_to;     /* sizes in [from, to) go one-sided */
    uint64_t retrieve_rma_from, retrieve_rma_to; /* the rest two-sided */

    bool exchange_rma; /* exchanges put into the peer's window, else send to it */

    /* What was measured, microseconds; 0: not measured. */
    double submit_us[PATH_COUNT][PATHS_SIZES];
    double retrieve_us[PATH_COUNT][PATHS_SIZES];
    double round_trip_us;
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
