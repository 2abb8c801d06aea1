/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device.c: what devices of all kinds have: a first arena and, where their memory cannot be
 * touched, staging memory: huge pages of this process, attached to the window and locked by the
 * driver.
 */
#include "worker/device.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "control/shm/arena.h"
#include "worker/map.h"
#include "worker/worker.h"

enum {
    STAGING_BYTES = 16 << 20, /* enough for both links of a copy to be busy, and several queues */
    PAGE = 4096               /* behind attached memory, see datapath.h */
};

omprma_status_t worker_device_refuse_range(const char *what, uint64_t address, uint64_t bytes,
                                           uint64_t bad)
{
    return error_set(OMPRMA_ERR_ADDRESS,
                     "%s of %llu bytes at device address 0x%llx: 0x%llx is not mapped on the "
                     "device",
                     what, (unsigned long long)bytes, (unsigned long long)address,
                     (unsigned long long)bad);
}

/* [address, address + bytes), or NULL if it is not in [base, base + all). */
static void *within(void *base, uint64_t all, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - (uint64_t)(uintptr_t)base;

    return base && offset <= all && bytes <= all - offset ? (char *)base + offset : NULL;
}

/* ---- shared memory ---- */

struct shared {
    struct shared *next;
    struct shm_memory memory;
};

omprma_status_t worker_device_share(struct worker_device *device, const struct shm_address *address,
                                    uint64_t bytes, uint64_t *at)
{
    struct shared *shared = malloc(sizeof(*shared));

    if (!shared || !shm_memory_open(&shared->memory, address, bytes)) {
        free(shared);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "the worker cannot open memory of the program");
    }
    shared->next = device->shared;
    device->shared = shared;
    *at = (uint64_t)(uintptr_t)shared->memory.at;
    return OMPRMA_OK;
}

void *worker_device_shared(const struct worker_device *device, uint64_t address, uint64_t bytes)
{
    void *found = NULL;

    for (const struct shared *shared = device->shared; shared && !found; shared = shared->next)
        found = within(shared->memory.at, shared->memory.bytes, address, bytes);
    return found;
}

static void close_shared(struct worker_device *device)
{
    while (device->shared) {
        struct shared *shared = device->shared;

        device->shared = shared->next;
        shm_memory_close(&shared->memory);
        free(shared);
    }
}

/* ---- staging memory ---- */

/* Puts a file behind it, which the program maps. Without one data goes by other paths. */
static void share_staging(struct worker_device *device, void *memory)
{
    device->staging_file = arena_share(memory, STAGING_BYTES + PAGE, &device->staging_address);
    if (device->staging_file >= 0)
        return;
    device->staging_address = (struct shm_address){0};
    log_write(LOG_CHOICE, "the program cannot map staging memory of this worker: %s",
              strerror(errno));
}

static void free_staging(struct worker_device *device, void *memory)
{
    munmap(memory, STAGING_BYTES + PAGE);
    if (device->staging_address.pid)
        close(device->staging_file);
    device->staging_address = (struct shm_address){0};
}

static omprma_status_t make_staging(struct worker_device *device)
{
    struct datapath *path = device->server->one_sided;
    omprma_status_t status = OMPRMA_OK;
    /* A put to small pages takes up to twice as long, because the kernel looks each one up. */
    void *memory = map_huge(STAGING_BYTES + PAGE, datapath_below(path));

    if (memory == MAP_FAILED)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                         "the worker has no %d MiB of memory to move "
                         "data of a device through",
                         STAGING_BYTES >> 20);
    if (device->shares)
        share_staging(device, memory);
    if (path && path->attach)
        status = path->attach(path, memory, STAGING_BYTES);
    if (status != OMPRMA_OK) {
        free_staging(device, memory);
        return status;
    }
    if (device->backend->pin)
        device->backend->pin(device, memory, STAGING_BYTES);
    device->staging = memory;
    device->staging_bytes = STAGING_BYTES;
    return OMPRMA_OK;
}

void worker_device_end(struct worker_device *device)
{
    struct datapath *path = device->server->one_sided;

    close_shared(device);
    if (!device->staging || device->lost)
        return;
    if (device->backend->unpin)
        device->backend->unpin(device, device->staging);
    if (path && path->detach)
        path->detach(path, device->staging);
    free_staging(device, device->staging);
    device->staging = NULL;
}

void *worker_device_staging(const struct worker_device *device, uint64_t address, uint64_t bytes)
{
    return within(device->staging, device->staging_bytes, address, bytes);
}

/* ---- begin ---- */

omprma_status_t worker_device_begin(struct worker_device *device, uint64_t arena_bytes,
                                    struct world_device *description)
{
    struct backend_job job = {.device = device};
    omprma_status_t status = OMPRMA_OK;

    if (device->backend->grow(device, &job, arena_bytes, 0) == BACKEND_PENDING)
        while (!worker_device_ended(&job)) {
            if (device->backend->fault(device))
                return error_set(OMPRMA_ERR_KERNEL, "%s", device->backend->fault(device));
            sched_yield();
        }
    if (job.status != OMPRMA_OK)
        return job.status;
    if (!worker_device_is_touchable(device))
        status = make_staging(device);
    if (status != OMPRMA_OK)
        return status;
    device->arena = job.value;
    device->arena_bytes = arena_bytes;
    snprintf(description->backend, sizeof(description->backend), "%s", device->backend->name);
    description->one_sided = worker_device_is_touchable(device);
    description->regions = worker_device_is_touchable(device) || device->backend->region;
    description->arena = device->arena;
    description->arena_bytes = arena_bytes;
    description->file =
        device->staging ? device->staging_address : worker_device_file(device, device->arena);
    description->staging = (uint64_t)(uintptr_t)device->staging;
    description->staging_bytes = device->staging_bytes;
    return OMPRMA_OK;
}
