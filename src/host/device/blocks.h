/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * blocks.h: blocks of a device's memory, as the allocator has them: more arenas when there is no
 * room, blocks that are handed out again when nothing uses them, arenas that go back.
 *
 * Thread: any, without runtime->lock unless said otherwise.
 */
#ifndef OMPRMA_HOST_DEVICE_BLOCKS_H
#define OMPRMA_HOST_DEVICE_BLOCKS_H

#include "host/core/device.h"

/* A block of bytes > 0. Blocks: when an arena must grow. Errors: as omprma_alloc(). */
omprma_status_t blocks_alloc(struct device *device, size_t bytes, struct fit fit,
                             omprma_addr_t *address);

/* Attaches another arena that has room for `bytes`. Blocks: yes. Errors: as omprma_alloc(). */
omprma_status_t blocks_grow(struct device *device, uint64_t bytes);

/* Gives a block back by its start, now or when nothing uses it any more. Blocks: no. Errors:
 * ADDRESS. */
omprma_status_t blocks_release(struct device *device, omprma_addr_t address);

/* Gives retired blocks back whose time has come, and the arenas that they leave empty. With the
 * lock held. */
void blocks_release_retired(struct device *device);

#endif
