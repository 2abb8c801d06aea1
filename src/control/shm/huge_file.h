/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * huge_file.h: files of memory, without a name, that get huge pages when they are used, as
 * anonymous memory does. Those of memfd_create() get small ones wherever shmem_enabled is "never",
 * which is mostly so.
 *
 * Thread: one at a time. Blocks: the first time, for about as long as a process takes to begin and
 * end. From then on this process has a descriptor of the mount open.
 */
#ifndef OMPRMA_CONTROL_SHM_HUGE_FILE_H
#define OMPRMA_CONTROL_SHM_HUGE_FILE_H

#include <stddef.h>

/* One of `bytes` zeros, which is closed on exec; the caller closes it. Where its end is not that of
 * a huge page, small ones are there. -1 with errno set: the system has none. */
int huge_file_make(size_t bytes);

#endif
