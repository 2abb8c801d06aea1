/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * owner.h: whose memory an address is, for omprma's own faces, which say so where it is used by
 * somebody else, or see to it that it means one thing only. It belongs to libomprma.so of the same
 * version and is not installed.
 */
#ifndef OMPRMA_PRIVATE_OWNER_H
#define OMPRMA_PRIVATE_OWNER_H

#include <stdbool.h>

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The device whose memory that is, and in *block and *bytes the block in use that it lies in, or 0
 * and 0; -1: it is no device's. Thread: any, also in a handler for a fault. Blocks: no. */
OMPRMA_API int omprma_owner(omprma_addr_t address, omprma_addr_t *block, uint64_t *bytes);

/* Whether this process may read a byte there itself. Thread: any. Blocks: for about a system call.
 */
OMPRMA_API bool omprma_may_read(omprma_addr_t address);

/* What this process has at these addresses, with what lies around it and leaves no hole of 64 MiB:
 * where that begins, and its bytes in *length. Both 0: it has nothing there. Thread: any. Blocks:
 * while a file of the system's is read. */
OMPRMA_API omprma_addr_t omprma_addresses_taken(omprma_addr_t address, uint64_t bytes,
                                                uint64_t *length);

#ifdef __cplusplus
}
#endif
#endif
