/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * single_copy.h: whether processes of this host may copy each other's memory. Large messages within
 * a host, and all one-sided transfers there, rest on it. Filters of containers and of batch systems
 * may forbid it. Knows nothing of who copies.
 */
#ifndef OMPRMA_CONTROL_SHM_SINGLE_COPY_H
#define OMPRMA_CONTROL_SHM_SINGLE_COPY_H

#include <stdbool.h>

/* If not, errno says why. Any thread; does not block. */
bool single_copy_is_allowed(void);

#endif
