/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * by_host.h: one-sided data by one path to processes of this host, and by another to those of other
 * hosts. See control/datapath.h.
 */
#ifndef OMPRMA_CONTROL_DIRECT_BY_HOST_H
#define OMPRMA_CONTROL_DIRECT_BY_HOST_H

#include "control/datapath.h"

/* `is_elsewhere`, for each of `ranks` processes, is copied. The path takes over both others, of
 * which `near` attaches nothing, also on an error. Errors: HOST_MEMORY. */
omprma_status_t by_host_create(struct datapath *near, struct datapath *far,
                               const bool *is_elsewhere, int ranks, struct datapath **path);

#endif
