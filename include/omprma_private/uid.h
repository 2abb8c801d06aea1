/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * uid.h: names of devices that stay from run to run, for omprma's own faces. It belongs to
 * libomprma.so of the same version and is not installed.
 */
#ifndef OMPRMA_PRIVATE_UID_H
#define OMPRMA_PRIVATE_UID_H

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { OMPRMA_UID_BYTES = 128 };

/* "omprma-node7-1.0": the first device of the second worker of that host. Programs that share the
 * workers of a host call each by one name, and two devices have one only where several programs use
 * the same worker's place. Device 0 <= device < omprma_device_count(). Thread: any. Blocks: no. */
OMPRMA_API void omprma_uid(int device, char uid[OMPRMA_UID_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
