/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.h: whether memory of the program may be used, for faces of omprma's own that copy small
 * pieces themselves. It belongs to libomprma.so of the same version and is not installed.
 */
#ifndef OMPRMA_PRIVATE_MEMORY_H
#define OMPRMA_PRIVATE_MEMORY_H

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Looks as submits (`write`: retrieves) do before they copy. Errors: ARGUMENT, with a text. Thread:
 * any. Blocks: no. */
OMPRMA_API omprma_status_t omprma_memory_check(const void *at, size_t bytes, bool write);

/* Whether what is there may be read, but not written, so that it has not changed since. Thread:
 * any. Blocks: no. */
OMPRMA_API bool omprma_memory_is_constant(const void *at, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
