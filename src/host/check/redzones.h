/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * redzones.h: OMPRMA_CHECK=full: what lies around and in blocks. Red zones in front of and behind
 * each, which are looked at when it is freed, when a kernel has crashed, and at the end; patterns
 * in new and in freed blocks; freed blocks that are kept for a while and looked at again; blocks
 * that are left at the end. Everything travels as data does, in a queue of its own per device.
 *
 * Thread: any, without runtime->lock unless said otherwise.
 */
#ifndef OMPRMA_HOST_CHECK_REDZONES_H
#define OMPRMA_HOST_CHECK_REDZONES_H

#include "host/core/device.h"

/* What the memory of new and of freed blocks is filled with, and the zones. */
enum { REDZONES_NEW = 0xcb, REDZONES_FREED = 0xfd, REDZONES_RED = 0xfa, REDZONES_BYTES = 256 };

/* For all devices, if it is wanted. With the lock held. Errors: HOST_MEMORY. */
omprma_status_t redzones_open(struct runtime *runtime);

/* As omprma_alloc() and omprma_free(); `caller` is where those return to. */
omprma_status_t redzones_take(struct device *device, uint64_t bytes, struct fit fit,
                              omprma_addr_t *address, void *caller);
omprma_status_t redzones_give(struct device *device, omprma_addr_t address, void *caller);

/* Some operations may be over: goes on with blocks that were freed. Blocks: no. */
void redzones_advance(struct device *device);

/* A kernel has crashed on the device: looks at all blocks while that can be done. With the lock
 * held. Blocks: yes. */
void redzones_crashed(struct device *device);

/* Nothing is under way any more: looks at all that there is, and names what is left. With the lock
 * held. Blocks: yes. */
void redzones_end(struct runtime *runtime);

#endif
