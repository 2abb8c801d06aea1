/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* join_memory.c: The first arena is as large as those that the devices came with. */
#include <stdlib.h>

#include <omprma_private/common.h>

#include "base/error.h"
#include "host/calls/call.h"
#include "host/device/blocks.h"
#include "host/device/common.h"

static omprma_status_t join_check(const struct runtime *runtime, struct device *const *devices,
                                  int count)
{
    if (runtime->common)
        return error_set(OMPRMA_ERR_ARGUMENT, "devices have memory in common already");
    for (int i = 0; i < count; i++) {
        if (!devices[i]->native)
            return error_set(OMPRMA_ERR_ARGUMENT, "%s is a GPU: its memory cannot be in common",
                             device_name(devices[i]));
        for (int j = 0; j < i; j++) {
            if (devices[i] == devices[j])
                return error_set(OMPRMA_ERR_ARGUMENT, "%s is named twice", device_name(devices[i]));
            if (devices[i]->peer == devices[j]->peer)
                return error_set(OMPRMA_ERR_ARGUMENT,
                                 "%s is of the same worker as device %d, where an address is there "
                                 "once; start more workers (-n), and leave out "
                                 "--devices-per-worker (OMPRMA_DEVICES)",
                                 device_name(devices[i]), devices[j]->number);
        }
    }
    return OMPRMA_OK;
}

static void join_undo(struct runtime *runtime)
{
    runtime_lock(runtime);
    common_memory_undo(runtime);
    runtime_unlock(runtime);
}

/* Without the lock, as the devices have nothing of it before. */
static omprma_status_t join_all(struct runtime *runtime, struct device **devices, int count)
{
    omprma_status_t status;

    runtime_lock(runtime);
    status = join_check(runtime, devices, count);
    if (status == OMPRMA_OK)
        status = common_memory_make(runtime, devices, count);
    runtime_unlock(runtime);
    if (status == OMPRMA_OK) {
        status = blocks_grow(devices[0], devices[0]->about.arena_bytes);
        if (status != OMPRMA_OK)
            join_undo(runtime);
    }
    return status;
}

omprma_status_t omprma_memory_join(const int *numbers, int count)
{
    struct runtime *runtime;
    struct device **devices;
    omprma_status_t status = runtime_require(&runtime);

    if (status != OMPRMA_OK)
        return status;
    if (count <= 0)
        return error_set(OMPRMA_ERR_ARGUMENT, "%d devices cannot have memory in common", count);
    devices = calloc((size_t)count, sizeof(struct device *));
    if (!devices)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a list of devices");
    for (int i = 0; i < count && status == OMPRMA_OK; i++)
        status = device_find(runtime, numbers[i], &devices[i]);
    if (status == OMPRMA_OK)
        status = join_all(runtime, devices, count);
    free(devices);
    return status;
}

bool omprma_device_is_lost(int number)
{
    struct device *device;

    if (device_require(number, &device) != OMPRMA_OK)
        return false;
    runtime_lock(device->runtime);
    bool alive = device_is_well(device);
    runtime_unlock(device->runtime);
    return !alive;
}
