/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * retired.h: blocks that were freed while operations of their device, or exchanges of others with
 * it, were under way. They are handed out again when what the device's queues held at that moment,
 * and those exchanges, are over, for these may still use them: LLVM 14 and 15 free a mapping that
 * another thread's launch has been queued with.
 *
 * Thread: with runtime->lock held unless said otherwise. The list is changed with the lock of
 * the device's memory held as well, so that either is enough to read it.
 */
#ifndef OMPRMA_HOST_DEVICE_RETIRED_H
#define OMPRMA_HOST_DEVICE_RETIRED_H

#include "host/core/device.h"

/* Retires a live block, by its start. False: nothing is under way, or there is no memory to note
 * it: it may be given back at once. */
bool retired_add(struct device *device, omprma_addr_t block);

/* The same, but only notes what is under way, in no list, for somebody who keeps the block and has
 * the queue `except` in order with that. NULL: nothing is, or no memory. Then: is it over; its end
 * (of NULL too). */
struct retired *retired_note(struct device *device, omprma_addr_t block,
                             const struct omprma_queue *except);
bool retired_is_over(const struct retired *retired);
void retired_drop(struct device *device, struct retired *retired);

/* Gives those back whose time has come. */
void retired_reap(struct device *device);

/* Waits until all can be given back, and does. Blocks: yes. */
void retired_wait(struct device *device);

/* Forgets all, when the runtime ends. */
void retired_forget(struct device *device);

#endif
