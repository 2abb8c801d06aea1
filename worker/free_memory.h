/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * free_memory.h: how much memory this process may still use. Knows nothing of hwloc or MPI.
 */
#ifndef OMPRMA_WORKER_FREE_MEMORY_H
#define OMPRMA_WORKER_FREE_MEMORY_H

#include <stdint.h>

/* The host's MemAvailable, or what the process's control groups (version 2 or 1, and all groups
 * above it) leave, whichever is less. `root` goes before "/proc" and "/sys": "" on a real machine,
 * a folder with recorded files in tests. 0 if nothing can be read. Reads some small files. */
uint64_t free_memory_bytes(const char *root);

/* The least limit of those groups, whatever is used of it; 0: there is none. */
uint64_t free_memory_limit(const char *root);

#endif
