/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * owner.h: whose memory an address is, for omprma's own faces, which say so where it is used by
 * somebody else. It belongs to libomprma.so of the same version and is not installed.
 */
#ifndef OMPRMA_PRIVATE_OWNER_H
#define OMPRMA_PRIVATE_OWNER_H

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The device whose memory that is, and in *block and *bytes the block in use that it lies in, or 0
 * and 0; -1: it is no device's. Thread: any, also in a handler for a fault. Blocks: no. */
OMPRMA_API int omprma_owner(omprma_addr_t address, omprma_addr_t *block, uint64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
