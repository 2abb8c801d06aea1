/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * neighbours.h: bulk data between this process and arenas of others of the host that it has mapped,
 * copied by itself: a data path (control/datapath.h) for what it holds. Of which arenas there are,
 * and when one goes, it is told.
 *
 * Thread: as of any data path; one of its own helps with large transfers (split.h). Blocks: each
 * look copies up to a huge page.
 */
#ifndef OMPRMA_CONTROL_SHM_NEIGHBOURS_H
#define OMPRMA_CONTROL_SHM_NEIGHBOURS_H

#include "control/datapath.h"
#include "control/shm/memory.h"

/* Without any. Errors: HOST_MEMORY. */
omprma_status_t neighbours_create(struct datapath **path);

/* Maps an arena of the peer with that rank. False, and errno says why: it cannot be mapped. */
bool neighbours_add(struct datapath *path, int rank, const struct shm_address *file, uint64_t base,
                    uint64_t bytes);

/* Unmaps the one that begins there, if any; all of that peer. Transfers with them that are under
 * way fail. Also for no path. */
void neighbours_drop(struct datapath *path, int rank, uint64_t base);
void neighbours_drop_all(struct datapath *path, int rank);

/* Whether it holds all of that range. Also for no path. */
bool neighbours_hold(const struct datapath *path, int rank, uint64_t address, uint64_t bytes);

#endif
