/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * local.h: bulk data between this process and memory of another one of the host, by the kernel's
 * copies between processes: any memory of the peer, not only what it has attached. The peer has no
 * part in it. See control/datapath.h.
 */
#ifndef OMPRMA_RMA_LOCAL_H
#define OMPRMA_RMA_LOCAL_H

#include <sys/types.h>

#include "control/datapath.h"

struct doorbell;

enum { LOCAL_PIECE = 1 << 20 };

/* `pid` is the peer of all transfers. `bell` is its doorbell, which outlives the path: nothing is
 * begun once that says that it has died, for another process may have its number then; NULL: not
 * known. Each call moves LOCAL_PIECE bytes at most. Transfers fail with ADDRESS where memory is not
 * there, UNSUPPORTED where copies are refused, CLOSED where the peer has ended. Errors:
 * HOST_MEMORY. */
omprma_status_t local_create(pid_t pid, struct doorbell *bell, struct datapath **path);

#endif
