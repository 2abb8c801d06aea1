/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * host_memory.h: host memory that the program has pinned (page-locked). Copies from it do not
 * wait for the source.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_CUDA_HOST_MEMORY_H
#define OMPRMA_CUDA_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Does the whole range lie in memory that was allocated or registered? */
bool host_memory_is_pinned(const void *begin, size_t bytes);

#endif
