/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * share.h: why a process has the devices that it has, for omprma's own faces, which name it where a
 * device number is beyond them. It belongs to libomprma.so of the same version and is not
 * installed.
 */
#ifndef OMPRMA_PRIVATE_SHARE_H
#define OMPRMA_PRIVATE_SHARE_H

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which of its launcher's processes of this host this process is; -1: a launcher does not tell, or
 * it is omprma-run's own. With it a clause: what part of the workers it has, and what to do about
 * that; else an empty one. Before omprma_init() the same. Thread: any. Blocks: no. */
OMPRMA_API int omprma_share(char *words, size_t room);

#ifdef __cplusplus
}
#endif
#endif
