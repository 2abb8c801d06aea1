/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * call.c: call_begin() takes the lock, and gives it back on an error; call_end() gives it back in
 * any case and passes a status on.
 */
#include "host/calls/call.h"

#include "base/error.h"
#include "host/check/check.h"
#include "host/queue/incoming.h"
#include "host/queue/issue.h"

omprma_status_t call_check_queue(struct omprma_queue *queue)
{
    if (queue->device->lost && !queue->failed)
        queue_lose(queue, OMPRMA_ERR_DEVICE_LOST, queue->device->lost_text);
    return queue->failed ? failure_report(queue->failed) : OMPRMA_OK;
}

/* Of a construct with many parts the worker takes the first ones while the others come, and their
 * operations serve again while they are in the caches. More than one result may have come since. */
static void let_full_messages_leave(struct omprma_queue *queue)
{
    enum { LOOKS_MOST = 8 };
    int looks = 0;

    queue->ripe = false;
    while (looks < LOOKS_MOST && incoming_look(queue->device->runtime))
        looks++;
}

void call_make_room(struct omprma_queue *queue)
{
    struct runtime *runtime = queue->device->runtime;

    if (queue_is_full(queue))
        queue_make_room(queue);
    if (runtime->driven)
        return;
    if (queue->ripe)
        let_full_messages_leave(queue);
    /* Who issues nothing but small one-sided transfers never waits, but what keeps the worker awake
     * for them (peer_keep_awake()) must be acknowledged, too. */
    if (!peer_may_send(queue->device->peer)) {
        channel_look_everywhere(runtime->channel);
        incoming_look(runtime);
    }
}

omprma_status_t call_begin(struct omprma_queue *queue)
{
    omprma_status_t status;

    if (!queue)
        return error_set(OMPRMA_ERR_ARGUMENT, "queue is NULL");
    if (!runtime_get())
        return runtime_absent();
    runtime_lock(queue->device->runtime);
    call_make_room(queue);
    status = call_check_queue(queue);
    if (status == OMPRMA_OK && queue->device->check)
        status = check_order(queue, queue->device);
    if (status != OMPRMA_OK)
        runtime_unlock(queue->device->runtime);
    return status;
}

omprma_status_t call_end(struct omprma_queue *queue, omprma_status_t status)
{
    struct runtime *runtime = queue->device->runtime;
    bool sleeps =
        runtime->rests || (runtime->driven && !pthread_equal(runtime->driver, pthread_self()));

    if (sleeps && queue->busy && runtime->channel->hears)
        channel_wake(runtime->channel); /* it sleeps at what was under way before */
    runtime_unlock(runtime);
    return status;
}

omprma_status_t call_check_range(struct device *device, const char *what, omprma_addr_t address,
                                 uint64_t bytes, bool *arena)
{
    omprma_addr_t block = 0;
    uint64_t block_bytes = 0;
    enum allocator_range range =
        device->check ? check_classify(device, address, bytes, &block, &block_bytes)
                      : device_classify(device, address, bytes, &block, &block_bytes);

    *arena = range == RANGE_LIVE;
    if (range == RANGE_LIVE)
        return OMPRMA_OK;
    if (range == RANGE_OVERRUN && block_bytes > 0)
        return error_set(OMPRMA_ERR_ADDRESS,
                         "%s: %s of %llu bytes at 0x%llx runs past the end of "
                         "its block of %llu bytes at 0x%llx",
                         device_name(device), what, (unsigned long long)bytes,
                         (unsigned long long)address, (unsigned long long)block_bytes,
                         (unsigned long long)block);
    if (range == RANGE_FREE)
        return error_set(OMPRMA_ERR_ADDRESS,
                         "%s: %s of %llu bytes at 0x%llx: that is device "
                         "memory which was freed or never allocated",
                         device_name(device), what, (unsigned long long)bytes,
                         (unsigned long long)address);
    if (range == RANGE_OVERRUN || address + bytes < address || address < 4096)
        return error_set(OMPRMA_ERR_ADDRESS, "%s: %s of %llu bytes at 0x%llx: not a device address",
                         device_name(device), what, (unsigned long long)bytes,
                         (unsigned long long)address);
    return OMPRMA_OK;
}
