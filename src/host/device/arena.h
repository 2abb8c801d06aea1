/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * arena.h: arenas of a device, from and to its worker: at addresses that nothing else in the
 * program has. What is allocated in them is blocks.c's.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_DEVICE_ARENA_H
#define OMPRMA_HOST_DEVICE_ARENA_H

#include "host/core/device.h"

/* Has the worker attach another arena of so many bytes, a multiple of 4096. Blocks. Errors:
 * DEVICE_MEMORY (also when there is some, but nowhere at addresses of its own), HOST_MEMORY,
 * DEVICE_LOST, and those of the worker. */
omprma_status_t arena_attach(struct device *device, uint64_t bytes, omprma_addr_t *base);

/* Gives one back, and lets go of its addresses. Blocks: no. */
void arena_release(struct device *device, omprma_addr_t base, uint64_t bytes);

#endif
