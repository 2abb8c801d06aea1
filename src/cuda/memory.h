/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.h: device memory of contexts.
 *
 * Thread: any. Blocks: as omprma_alloc().
 */
#ifndef OMPRMA_CUDA_MEMORY_H
#define OMPRMA_CUDA_MEMORY_H

#include "cuda/context.h"

/* Frees all that the context has. */
void memory_clear(struct context *context);

/* The GPU that has the block which an address is in: the context's own is asked first, because
 * devices of different workers may have the same addresses. NULL: in no block. */
struct gpu *memory_owner(struct context *context, omprma_addr_t address);

/* The same; an address in no block is taken for the context's: it may be a global of a module. */
struct gpu *memory_gpu(struct context *context, omprma_addr_t address);

#endif
