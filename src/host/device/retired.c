/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* retired.c: see retired.h. A retired block holds a place (queue_mark()) in each queue that was not
 * idle, of each device that has its memory, and what other devices' queues have for these. */
#include "host/device/retired.h"

#include <stdlib.h>

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

/* The last operation of another device's queue that uses memory of this one; NULL: none does. */
static struct operation *last_use(const struct omprma_queue *queue, const struct device *device)
{
    struct operation *o = queue->last;

    while (o && o->with != device)
        o = o->prev;
    return o;
}

/* *mark: a reference to what is over when the queue does not use the device's memory any more;
 * NULL: it does not. Errors: HOST_MEMORY. */
static omprma_status_t end_of_use(struct omprma_queue *queue, const struct device *device,
                                  struct operation **mark)
{
    *mark = NULL;
    if (queue_is_idle(queue))
        return OMPRMA_OK;
    if (queue->device == device)
        return queue_mark(queue, mark);
    *mark = last_use(queue, device);
    if (*mark)
        operation_hold(*mark);
    return OMPRMA_OK;
}

/* Notes what the queues of `user` hold for memory of the device. */
static omprma_status_t note_queues(struct retired *retired, const struct device *device,
                                   const struct device *user, const struct omprma_queue *except)
{
    omprma_status_t status = OMPRMA_OK;

    for (uint32_t i = 0; i < user->queue_count && status == OMPRMA_OK; i++) {
        struct operation *mark = NULL;

        if (user->queues[i] != except)
            status = end_of_use(user->queues[i], device, &mark);
        if (mark)
            retired->mark[retired->count++] = mark;
    }
    return status;
}

static uint32_t busy_queues(const struct device *device, const struct omprma_queue *except)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < device->queue_count; i++)
        count += device->queues[i] != except && !queue_is_idle(device->queues[i]);
    return count;
}

/* So many marks at most. */
static uint32_t count_marks(const struct device_memory *memory, const struct omprma_queue *except)
{
    uint32_t count = 0;

    for (int i = 0; i < memory->device_count; i++)
        count += busy_queues(memory->devices[i], except) + memory->devices[i]->used;
    return count;
}

/* What all queues hold for memory of one of the devices that have it. */
static omprma_status_t note_device(struct retired *retired, const struct device *device,
                                   const struct omprma_queue *except)
{
    const struct runtime *runtime = device->runtime;
    omprma_status_t status = note_queues(retired, device, device, except);

    for (int i = 0; device->used && i < runtime->device_count && status == OMPRMA_OK; i++)
        if (runtime->devices[i] && runtime->devices[i] != device)
            status = note_queues(retired, device, runtime->devices[i], NULL);
    return status;
}

struct retired *retired_note(struct device *device, omprma_addr_t block,
                             const struct omprma_queue *except)
{
    const struct device_memory *memory = device->memory;
    uint32_t count = count_marks(memory, except);
    struct retired *retired =
        count ? malloc(sizeof(*retired) + count * sizeof(*retired->mark)) : NULL;
    omprma_status_t status = OMPRMA_OK;

    if (!retired)
        return NULL;
    *retired = (struct retired){.block = block};
    for (int i = 0; i < memory->device_count && status == OMPRMA_OK; i++)
        status = note_device(retired, memory->devices[i], except);
    if (status == OMPRMA_OK)
        return retired;
    retired_drop(device, retired);
    return NULL;
}

bool retired_add(struct device *device, omprma_addr_t block)
{
    struct retired *retired = retired_note(device, block, NULL);

    if (!retired)
        return false;
    spinlock_lock(&device->memory->lock);
    if (device->memory->retired_last)
        device->memory->retired_last->next = retired;
    else
        device->memory->retired_first = retired;
    device->memory->retired_last = retired;
    device->memory->retired_count++;
    device->frees++;
    spinlock_unlock(&device->memory->lock);
    return true;
}

void retired_reap(struct device *device)
{
    struct retired *retired;

    while ((retired = device->memory->retired_first) != NULL && retired_is_over(retired)) {
        uint64_t bytes;

        spinlock_lock(&device->memory->lock);
        device->memory->retired_first = retired->next;
        if (!retired->next)
            device->memory->retired_last = NULL;
        device->memory->retired_count--;
        allocator_give(device->memory->allocator, retired->block, &bytes);
        spinlock_unlock(&device->memory->lock);
        retired_drop(device, retired);
    }
}

/* What one of them waits for; NULL: all can be given back. */
static struct operation *pending_mark(const struct device *device)
{
    for (const struct retired *retired = device->memory->retired_first; retired;
         retired = retired->next)
        for (uint32_t i = 0; i < retired->count; i++)
            if (!is_reached(retired->mark[i]))
                return retired->mark[i];
    return NULL;
}

void retired_wait(struct device *device)
{
    struct operation *mark;

    for (struct retired *retired = device->memory->retired_first; retired; retired = retired->next)
        for (uint32_t i = 0; i < retired->count; i++)
            queue_push(retired->mark[i]);
    while ((mark = pending_mark(device)) != NULL) {
        operation_hold(mark);
        queue_settle_operation(mark);
        operation_drop(&device->runtime->operations, mark);
    }
    retired_reap(device);
}

void retired_forget(struct device *device)
{
    while (device->memory->retired_first) {
        struct retired *retired = device->memory->retired_first;

        device->memory->retired_first = retired->next;
        retired_drop(device, retired);
    }
}
