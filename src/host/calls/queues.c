/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* queues.c: public functions of omprma.h about queues and memory that need no more than a lock. */
#include <stdlib.h>
#include <string.h>

#include <omprma_private/unwaited.h>

#include "base/error.h"
#include "host/core/device.h"
#include "host/calls/call.h"
#include "host/check/check.h"
#include "host/queue/incoming.h"
#include "host/queue/issue.h"
#include "host/device/blocks.h"
#include "host/check/redzones.h"

/* ---- queues ---- */

omprma_status_t omprma_queue_create(int number, omprma_queue_t **queue)
{
    struct device *device;
    omprma_status_t status = device_require(number, &device);

    if (status == OMPRMA_OK && !queue)
        status = error_set(OMPRMA_ERR_ARGUMENT, "queue is NULL");
    if (status != OMPRMA_OK)
        return status;
    runtime_lock(device->runtime);
    status = queue_take(device, queue);
    if (status == OMPRMA_OK)
        (*queue)->is_programs = true;
    runtime_unlock(device->runtime);
    return status;
}

omprma_status_t omprma_queue_destroy(omprma_queue_t *queue)
{
    omprma_status_t status;

    if (!queue || !runtime_get())
        return OMPRMA_OK;
    runtime_lock(queue->device->runtime);
    status = queue_synchronize(queue);
    blocks_release_retired(queue->device);
    queue_give(queue);
    runtime_unlock(queue->device->runtime);
    return status;
}

void omprma_queue_unwaited(omprma_queue_t *queue, bool unwaited)
{
    runtime_lock(queue->device->runtime);
    queue->unwaited = unwaited;
    runtime_unlock(queue->device->runtime);
}

static omprma_status_t check_queue(const struct omprma_queue *queue)
{
    if (!queue)
        return error_set(OMPRMA_ERR_ARGUMENT, "queue is NULL");
    return runtime_get() ? OMPRMA_OK : runtime_absent();
}

omprma_status_t omprma_queue_flush(omprma_queue_t *queue)
{
    omprma_status_t status = check_queue(queue);

    if (status != OMPRMA_OK)
        return status;
    runtime_lock(queue->device->runtime);
    queue_flush(queue);
    runtime_unlock(queue->device->runtime);
    return OMPRMA_OK;
}

omprma_status_t omprma_queue_query(omprma_queue_t *queue, bool *done)
{
    omprma_status_t status = check_queue(queue);

    if (status != OMPRMA_OK)
        return status;
    if (!done)
        return error_set(OMPRMA_ERR_ARGUMENT, "queue query: done is NULL");
    runtime_lock(queue->device->runtime);
    queue->waiters++; /* somebody wants to know: ask the worker where nobody asked */
    queue_want(queue, queue->hazard);
    queue_flush(queue);
    if (!queue->device->runtime->driven)
        incoming_query(queue->device->runtime);
    queue->waiters--;
    *done = queue_is_idle(queue);
    if (*done)
        observe_idle(queue->device->runtime->observers, queue);
    runtime_unlock(queue->device->runtime);
    return OMPRMA_OK;
}

omprma_status_t omprma_queue_synchronize(omprma_queue_t *queue)
{
    omprma_status_t status = check_queue(queue);

    if (status != OMPRMA_OK)
        return status;
    runtime_lock(queue->device->runtime);
    status = queue_synchronize(queue);
    blocks_release_retired(queue->device);
    if (status == OMPRMA_ERR_KERNEL && queue->device->check)
        redzones_crashed(queue->device);
    runtime_unlock(queue->device->runtime);
    if (queue->device->check)
        redzones_advance(queue->device);
    return status;
}

omprma_status_t omprma_queue_notify(omprma_queue_t *queue,
                                    void (*callback)(void *data, omprma_status_t status),
                                    void *data)
{
    struct completion *completion;
    omprma_status_t status = check_queue(queue);

    if (status != OMPRMA_OK)
        return status;
    if (!callback)
        return error_set(OMPRMA_ERR_ARGUMENT, "queue notify: callback is NULL");
    completion = completion_make(callback, data);
    if (!completion)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a callback");
    runtime_lock(queue->device->runtime);
    status = queue_notify(queue, completion);
    runtime_unlock(queue->device->runtime);
    if (status != OMPRMA_OK)
        free(completion);
    return status;
}

/* ---- memory ---- */

static omprma_status_t alloc(int number, size_t bytes, struct fit fit, omprma_addr_t *address,
                             void *caller)
{
    struct device *device;
    omprma_addr_t block = 0;
    omprma_status_t status = device_require(number, &device);

    if (status == OMPRMA_OK && !address)
        status = error_set(OMPRMA_ERR_ARGUMENT, "address is NULL");
    if (status == OMPRMA_OK && bytes > 0)
        status = device->check ? redzones_take(device, bytes, fit, &block, caller)
                               : blocks_alloc(device, bytes, fit, &block);
    if (status == OMPRMA_OK)
        *address = block;
    return status;
}

omprma_status_t omprma_alloc(int number, size_t bytes, omprma_addr_t *address)
{
    return alloc(number, bytes, fit_plain(bytes), address, __builtin_return_address(0));
}

omprma_status_t omprma_alloc_like(int number, size_t bytes, const void *host,
                                  omprma_addr_t *address)
{
    struct fit fit = fit_like((uintptr_t)host, bytes);

    return alloc(number, bytes, fit, address, __builtin_return_address(0));
}

omprma_status_t omprma_free(int number, omprma_addr_t address)
{
    struct device *device;
    omprma_status_t status = device_require(number, &device);

    if (status != OMPRMA_OK || address == 0)
        return status;
    return device->check ? redzones_give(device, address, __builtin_return_address(0))
                         : blocks_release(device, address);
}

static bool is_inside(struct device *device, omprma_addr_t address, uint64_t bytes)
{
    omprma_addr_t block;
    uint64_t block_bytes;
    bool inside;

    if (!device->check)
        return device_classify(device, address, bytes, NULL, NULL) == RANGE_LIVE;
    runtime_lock(device->runtime);
    inside = check_classify(device, address, bytes, &block, &block_bytes) == RANGE_LIVE;
    runtime_unlock(device->runtime);
    return inside;
}

omprma_status_t omprma_address_inside(int number, omprma_addr_t address, size_t bytes, bool *inside)
{
    struct device *device;
    omprma_status_t status = device_require(number, &device);

    if (status == OMPRMA_OK && !inside)
        status = error_set(OMPRMA_ERR_ARGUMENT, "inside is NULL");
    if (status != OMPRMA_OK)
        return status;
    *inside = bytes == 0 || is_inside(device, address, bytes);
    return OMPRMA_OK;
}

omprma_status_t omprma_fault_address(int number, omprma_addr_t *address)
{
    struct device *device;
    omprma_status_t status = device_require(number, &device);

    if (status == OMPRMA_OK && !address)
        status = error_set(OMPRMA_ERR_ARGUMENT, "address is NULL");
    if (status != OMPRMA_OK)
        return status;
    runtime_lock(device->runtime);
    *address = device->fault_address;
    runtime_unlock(device->runtime);
    return OMPRMA_OK;
}

omprma_status_t omprma_device_info(int number, omprma_device_info_t *info)
{
    struct device *device;
    struct allocator_usage usage;
    omprma_status_t status = device_require(number, &device);

    if (status == OMPRMA_OK && !info)
        status = error_set(OMPRMA_ERR_ARGUMENT, "info is NULL");
    if (status != OMPRMA_OK)
        return status;
    if (device->memory->retired_count > 0) {
        runtime_lock(device->runtime);
        blocks_release_retired(device);
        runtime_unlock(device->runtime);
    }
    spinlock_lock(&device->memory->lock);
    allocator_usage(device->memory->allocator, &usage);
    spinlock_unlock(&device->memory->lock);
    *info = (omprma_device_info_t){
        .pid = device->peer->hello.bell.pid,
        .worker = device->peer->number,
        .index = device->index,
        .cores = device->about.cores,
        .numa_node = device->about.numa_node,
        .lanes = (int)device->runtime->config.lanes,
        .memory_bytes = device->about.memory_limit,
        .arena_bytes = usage.arena_bytes,
        .used_bytes = usage.used_bytes,
        .peak_bytes = usage.peak_bytes,
        .inline_submit_bytes = device->paths.inline_submit,
        .inline_retrieve_bytes = device->paths.inline_retrieve,
        .osc = device->runtime->world.component,
        .native = device->native,
    };
    _Static_assert(sizeof(info->host) == sizeof(device->peer->hello.host), "host name");
    _Static_assert(sizeof(info->backend) == sizeof(device->about.backend), "backend name");
    _Static_assert(sizeof(info->model) == sizeof(device->about.model), "model");
    memcpy(info->host, device->peer->hello.host, sizeof(info->host));
    memcpy(info->model, device->about.model, sizeof(info->model));
    memcpy(info->backend, device->about.backend, sizeof(info->backend));
    return OMPRMA_OK;
}
