/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * local.h: bulk data between this process and memory of others of the host, by the kernel's copies
 * between processes. The peer has no part in it. See control/datapath.h.
 *
 * Thread: unlike other paths, any number may move transfers at the same time.
 */
#ifndef OMPRMA_CONTROL_SHM_LOCAL_H
#define OMPRMA_CONTROL_SHM_LOCAL_H

#include <sys/types.h>

#include "control/datapath.h"

struct doorbell;

enum { LOCAL_PIECE = 1 << 20 };

/* The process of each of `ranks` peers, and its doorbell, by rank: a transfer stops where it is
 * once the bell says that the peer has died, and is never done; NULL, for all or one: not known.
 * The bells outlive the path; `pids` is copied. Each call moves LOCAL_PIECE bytes at most.
 * Transfers fail with ARGUMENT where memory of this process is not there, DEVICE_LOST where the
 * peer's is not, UNSUPPORTED where copies are refused. Errors: HOST_MEMORY. */
omprma_status_t local_create(const pid_t *pids, struct doorbell *const *bells, int ranks,
                             struct datapath **path);

#endif
