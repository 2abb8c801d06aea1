/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * null_path.h: data paths between threads of one process. The same order is promised as MPI
 * promises, and nothing more: data is moved as late as the contract in datapath.h allows, in
 * pieces, and different transfers overtake each other, so that a missing wait shows as wrong data.
 * Knows nothing of queues or devices.
 */
#ifndef OMPRMA_TESTS_NULL_PATH_H
#define OMPRMA_TESTS_NULL_PATH_H

#include "control/datapath.h"

struct null_path_options {
    uint64_t piece_bytes;  /* moved by one call of test() */
    uint64_t direct_bytes; /* one-sided: up to this size moved by start(), as with put + flush;
                            * two-sided: up to this size sends end before they are received */
    unsigned least_delay;  /* calls of test() that move nothing, per piece, */
    unsigned delay;        /* and at most so many more, by chance */
    uint64_t seed;         /* of the delays; not 0 */
    uint64_t fail_start;   /* the start() with this number fails, counted from 1; 0: none does */
    uint64_t wrong_out, wrong_in; /* transfers of at least so many bytes, out or in, are said to be
                                   * done without their last word; 0: none */
    uint64_t wrong_most;          /* and of at most so many, 0: of any; */
    int wrong_peer;               /* to or from this rank, 0: all */
    int most; /* one-sided: so many transfers move at a time, first come; 0: all do */
};

/* One-sided: copies between addresses of this process. Errors: HOST_MEMORY. */
omprma_status_t null_one_sided_create(const struct null_path_options *options,
                                      struct datapath **path);

/* Where sends and receives of two-sided paths meet. NULL without memory. */
struct null_exchange;
struct null_exchange *null_exchange_create(void);
/* After all paths of it are destroyed. */
void null_exchange_destroy(struct null_exchange *exchange);

/* Two-sided end of `rank`. A send meets the receive of the same pair of ranks and tag, in order;
 * both must have the same size. Errors: HOST_MEMORY. */
omprma_status_t null_two_sided_create(const struct null_path_options *options,
                                      struct null_exchange *exchange, int rank,
                                      struct datapath **path);

/* The next start() of a path fails. */
void null_path_fail_next(struct datapath *path);

/* From now on nothing moves to or from this rank on a one-sided path; for -1, all move. */
void null_path_stop_peer(struct datapath *path, int peer);

/* From now on nothing that a two-sided path receives arrives; or again it does. */
void null_path_hold_data(struct datapath *path, bool hold);

#endif
