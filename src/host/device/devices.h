/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * devices.h: devices with all that belongs to them: queues, images; and the commands that a device
 * as a whole is sent.
 */
#ifndef OMPRMA_HOST_DEVICE_DEVICES_H
#define OMPRMA_HOST_DEVICE_DEVICES_H

#include "host/core/device.h"

/* Makes device `index` of a worker from what that said. Errors: HOST_MEMORY. */
omprma_status_t device_create(struct peer *peer, int index, const struct world_device *about,
                              struct device **device);
void device_destroy(struct device *device);

/* With the lock held, which is released meanwhile: runs one command on the control queue and waits
 * for its result. `tail` (NULL allowed) receives up to `capacity` bytes of the result. Errors: what
 * the worker says, DEVICE_LOST. */
omprma_status_t device_command(struct device *device, const struct wire_record *record,
                               uint64_t *value, void *tail, uint32_t capacity);

#endif
