/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * local.h: bulk data between this process and memory of another one of the host, by the kernel's
 * copies between processes. The peer has no part in it. See control/datapath.h.
 *
 * Thread: unlike other paths, any number may move transfers at the same time.
 */
#ifndef OMPRMA_CONTROL_SHM_LOCAL_H
#define OMPRMA_CONTROL_SHM_LOCAL_H

#include <sys/types.h>

#include "control/datapath.h"

struct doorbell;

enum { LOCAL_PIECE = 1 << 20 };

/* `pid` is the peer of all transfers. `bell` is its doorbell, which outlives the path: a transfer
 * stops where it is once that says that the peer has died, and is never done; NULL: not known. Each
 * call moves LOCAL_PIECE bytes at most. Transfers fail with ARGUMENT where memory of this process
 * is not there, DEVICE_LOST where the peer's is not, UNSUPPORTED where copies are refused. Errors:
 * HOST_MEMORY. */
omprma_status_t local_create(pid_t pid, struct doorbell *bell, struct datapath **path);

#endif
