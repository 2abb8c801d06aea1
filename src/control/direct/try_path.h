/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * try_path.h: whether a one-sided path delivers right data: one process gets and puts memory of
 * others, which meanwhile call datapath_progress().
 */
#ifndef OMPRMA_CONTROL_DIRECT_TRY_PATH_H
#define OMPRMA_CONTROL_DIRECT_TRY_PATH_H

#include "control/datapath.h"

enum { TRY_PATH_BYTES = 70001 /* no whole number of anything */ };

/* What the memory of `rank`, of TRY_PATH_BYTES, is to hold before. */
void try_path_fill(unsigned char *memory, int rank);

/* Gets what is in the memory at addresses[rank] (0: there is none) of each of `ranks` processes,
 * puts something else there and gets that back. On an error memory is kept until the path is
 * destroyed, into which `kept` then points: free() it. Blocks: for `limit_s` at each of three
 * steps. Errors: DEVICE_LOST (nothing comes), PROTOCOL (wrong data), HOST_MEMORY, those of the
 * path. */
omprma_status_t try_path(struct datapath *path, const uint64_t *addresses, int ranks, int limit_s,
                         void **kept);

#endif
