/* device.c: see device.h. */
#include "worker/device.h"

#include <sched.h>
#include <stdio.h>

#include "base/error.h"

omprma_status_t worker_device_refuse_range(const char *what, uint64_t address, uint64_t bytes,
                                           uint64_t bad)
{
    return error_set(OMPRMA_ERR_ADDRESS,
                     "%s of %llu bytes at device address 0x%llx: 0x%llx is not mapped on the "
                     "device",
                     what, (unsigned long long)bytes, (unsigned long long)address,
                     (unsigned long long)bad);
}

omprma_status_t worker_device_begin(struct worker_device *device, uint64_t arena_bytes,
                                    struct world_device *description)
{
    struct backend_job job = {.device = device};

    if (device->backend->grow(device, &job, arena_bytes) == BACKEND_PENDING)
        while (!worker_device_ended(&job))
            sched_yield();
    if (job.status != OMPRMA_OK)
        return job.status;
    device->arena = job.value;
    device->arena_bytes = arena_bytes;
    snprintf(description->backend, sizeof(description->backend), "%s", device->backend->name);
    description->one_sided = worker_device_is_touchable(device);
    description->arena = device->arena;
    description->arena_bytes = arena_bytes;
    return OMPRMA_OK;
}
