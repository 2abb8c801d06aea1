/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel.h: calls a kernel with a number of 64-bit arguments that is known only at run time: as its
 * parameters, through libffi with one prepared call interface per argument count, or as an array.
 * Knows nothing of queues or messages.
 */
#ifndef OMPRMA_WORKER_KERNEL_H
#define OMPRMA_WORKER_KERNEL_H

#include <omprma/omprma.h>

/* Calls the function at `entry` with `count` words (count <= OMPRMA_LAUNCH_ARGUMENTS). Any thread;
 * returns when the kernel does. No allocation after the first call with a given count.
 * Errors: ARGUMENT, HOST_MEMORY. */
omprma_status_t kernel_call(uint64_t entry, const uint64_t *arguments, uint32_t count);

/* The same for a kernel that takes an array of pointers to the words, which it may change: it gets
 * a copy of them. Never allocates. */
omprma_status_t kernel_call_context(uint64_t entry, const uint64_t *arguments, uint32_t count);

#endif
