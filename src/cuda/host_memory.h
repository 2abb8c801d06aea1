/*
 * host_memory.h: host memory that the program has had page-locked. It is plain memory here: the
 * data path takes any; what is remembered is which it is, because copies from it do not wait.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_CUDA_HOST_MEMORY_H
#define OMPRMA_CUDA_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Does the whole range lie in memory that was allocated or registered? */
bool host_memory_is_locked(const void *begin, size_t bytes);

#endif
