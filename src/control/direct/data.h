/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* data.h: the two-sided data path over sockets. See control/datapath.h. */
#ifndef OMPRMA_CONTROL_DIRECT_DATA_H
#define OMPRMA_CONTROL_DIRECT_DATA_H

#include "control/datapath.h"
#include "control/world.h"

/* Of a world that goes by sockets, which must outlive the path. What goes to or from a process that
 * has ended stays where it is, and is never done. Errors: HOST_MEMORY. */
omprma_status_t direct_data_create(const struct world *world, struct datapath **path);

#endif
