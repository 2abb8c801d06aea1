/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* retired.c: see retired.h. A retired block holds a place (queue_mark()) in each queue that was not
 * idle. */
#include "host/device/retired.h"

#include <stdlib.h>

#include "host/core/progress.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"
#include "host/queue/order.h"

void retired_drop(struct device *device, struct retired *retired)
{
    for (uint32_t i = 0; retired && i < retired->count; i++)
        operation_drop(&device->runtime->operations, retired->mark[i]);
    free(retired);
}

/* Nothing stands before the mark, or is the mark, but small submits that were sent. Whatever comes
 * to the block later comes after those anyway. */
static bool is_reached(const struct operation *mark)
{
    const struct operation *o = mark;

    if (operation_has_ended(mark))
        return true;
    if (mark->kind == OPERATION_WRITE && mark->state == OPERATION_ISSUED)
        o = order_before_write(mark);
    while (o && o->kind == OPERATION_MARK)
        o = o->prev;
    return o == NULL;
}

bool retired_is_over(const struct retired *retired)
{
    for (uint32_t i = 0; i < retired->count; i++)
        if (!is_reached(retired->mark[i]))
            return false;
    return true;
}

static uint32_t busy_queues(const struct device *device, const struct omprma_queue *except)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < device->queue_count; i++)
        count += device->queues[i] != except && !queue_is_idle(device->queues[i]);
    return count;
}

struct retired *retired_note(struct device *device, omprma_addr_t block,
                             const struct omprma_queue *except)
{
    uint32_t count = busy_queues(device, except);
    struct retired *retired =
        count ? malloc(sizeof(*retired) + count * sizeof(*retired->mark)) : NULL;

    if (!retired)
        return NULL;
    *retired = (struct retired){.block = block};
    for (uint32_t i = 0; i < device->queue_count; i++) {
        struct operation *mark = NULL;

        if (device->queues[i] == except || queue_is_idle(device->queues[i]))
            continue;
        if (queue_mark(device->queues[i], &mark) != OMPRMA_OK) {
            retired_drop(device, retired);
            return NULL;
        }
        if (mark)
            retired->mark[retired->count++] = mark;
    }
    return retired;
}

bool retired_add(struct device *device, omprma_addr_t block)
{
    struct retired *retired = retired_note(device, block, NULL);

    if (!retired)
        return false;
    spinlock_lock(&device->memory_lock);
    if (device->retired_last)
        device->retired_last->next = retired;
    else
        device->retired_first = retired;
    device->retired_last = retired;
    device->retired_count++;
    device->frees++;
    spinlock_unlock(&device->memory_lock);
    return true;
}

void retired_reap(struct device *device)
{
    struct retired *retired;

    while ((retired = device->retired_first) != NULL && retired_is_over(retired)) {
        uint64_t bytes;

        spinlock_lock(&device->memory_lock);
        device->retired_first = retired->next;
        if (!retired->next)
            device->retired_last = NULL;
        device->retired_count--;
        allocator_give(device->allocator, retired->block, &bytes);
        spinlock_unlock(&device->memory_lock);
        retired_drop(device, retired);
    }
}

static bool all_over(const void *data)
{
    const struct device *device = data;

    for (const struct retired *retired = device->retired_first; retired; retired = retired->next)
        if (!retired_is_over(retired))
            return false;
    return true;
}

void retired_wait(struct device *device)
{
    uint32_t count = device->queue_count;

    for (struct retired *retired = device->retired_first; retired; retired = retired->next)
        for (uint32_t i = 0; i < retired->count; i++)
            queue_push(retired->mark[i]);
    for (uint32_t i = 0; i < count; i++)
        device->queues[i]->waiters++;
    progress_wait(device->runtime, all_over, device);
    for (uint32_t i = 0; i < count; i++)
        device->queues[i]->waiters--;
    retired_reap(device);
}

void retired_forget(struct device *device)
{
    while (device->retired_first) {
        struct retired *retired = device->retired_first;

        device->retired_first = retired->next;
        retired_drop(device, retired);
    }
}
