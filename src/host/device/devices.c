/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * devices.c: a command for the device as a whole goes into a queue of its own, and is waited for.
 */
#include "host/device/devices.h"

#include "base/error.h"
#include "host/core/attach_order.h"
#include "host/core/progress.h"
#include "host/device/retired.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"

omprma_status_t device_create(struct peer *peer, int index, const struct world_device *about,
                              struct device **out)
{
    struct device *device;
    omprma_status_t status = device_make(peer, index, about, &device);

    if (status != OMPRMA_OK)
        return status;
    status = queue_take(device, &device->control); /* the first one gets number 0 */
    if (status != OMPRMA_OK) {
        device_destroy(device);
        return status;
    }
    *out = device;
    return OMPRMA_OK;
}

void device_destroy(struct device *device)
{
    if (!device)
        return;
    for (uint32_t i = 0; i < device->queue_count; i++)
        queue_free(device->queues[i]);
    retired_forget(device);
    device_free(device);
}

/* ---- commands ---- */

static bool command_over(const void *data)
{
    const struct device *device = data;

    return !device->commanding;
}

omprma_status_t device_command(struct device *device, const struct wire_record *record,
                               uint64_t *value, void *tail, uint32_t capacity)
{
    struct omprma_queue *queue = device->control;
    struct wire_record sent = *record;
    struct operation *command;
    omprma_status_t status;

    while (device->commanding) /* another thread's command */
        progress_wait(device->runtime, command_over, device);
    status = device_check_alive(device);
    if (status != OMPRMA_OK)
        return status;
    device->commanding = true;
    sent.flags |= WIRE_REPLY;
    status = queue_append_command(queue, OPERATION_COMMAND, &sent, &command);
    if (status == OMPRMA_OK) {
        operation_hold(command);
        if (sent.code == WIRE_GROW)
            attach_order_change(device->peer, command);
        command->command.tail = tail;
        command->command.tail_capacity = capacity;
        status = queue_synchronize(queue);
        if (status == OMPRMA_OK && value)
            *value = command->command.value;
        operation_drop(&device->runtime->operations, command);
    }
    device->commanding = false;
    progress_signal(device->runtime);
    return status;
}
