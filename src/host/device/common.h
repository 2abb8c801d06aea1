/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * common.h: memory that devices have in common.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_DEVICE_COMMON_H
#define OMPRMA_HOST_DEVICE_COMMON_H

#include "host/core/device.h"

/* Makes it for these devices, empty; their own is not used any more. Blocks: no. Errors:
 * HOST_MEMORY. */
omprma_status_t common_memory_make(struct runtime *runtime, struct device **devices, int count);

/* Nothing is allocated from it: its devices have their own again. */
void common_memory_undo(struct runtime *runtime);

/* When its devices are no more. */
void common_memory_free(struct runtime *runtime);

#endif
