/* device.c: see device.h. */
#include "host/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "host/image.h"
#include "host/queue.h"

enum { QUEUES_MOST = 65536 };

const char *device_name(const struct device *device)
{
    static _Thread_local char text[96];

    snprintf(text, sizeof(text), "device %d (%s)", device->number, device->peer->hello.host);
    return text;
}

omprma_status_t device_create(struct peer *peer, int index, const struct world_device *about,
                              struct device **out)
{
    struct device *device = calloc(1, sizeof(*device));
    omprma_status_t status = OMPRMA_OK;

    if (!device)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a device");
    device->runtime = peer->runtime;
    device->peer = peer;
    device->number = peer->first_device + index;
    device->index = (uint16_t)index;
    device->about = *about;
    device->about.backend[sizeof(about->backend) - 1] = 0;
    spinlock_init(&device->memory_lock);
    device->allocator = allocator_create();
    if (!device->allocator)
        status = error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for device %d", device->number);
    if (status == OMPRMA_OK)
        status = allocator_add_arena(device->allocator, about->arena, about->arena_bytes);
    device->attached_bytes = about->arena_bytes;
    if (status == OMPRMA_OK)
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
    free(device->queues);
    image_forget_all(device);
    allocator_destroy(device->allocator);
    free(device);
}

omprma_status_t device_find(struct runtime *runtime, int number, struct device **device)
{
    if (number < 0 || number >= runtime->device_count)
        return error_set(OMPRMA_ERR_ARGUMENT, "no device %d: there are %d, counted from 0", number,
                         runtime->device_count);
    *device = runtime->devices[number];
    return OMPRMA_OK;
}

omprma_status_t device_require(int number, struct device **device)
{
    struct runtime *runtime;
    omprma_status_t status = runtime_require(&runtime);

    return status == OMPRMA_OK ? device_find(runtime, number, device) : status;
}

enum allocator_range device_classify(struct device *device, omprma_addr_t address, uint64_t bytes,
                                     omprma_addr_t *block, uint64_t *block_bytes)
{
    enum allocator_range range;

    spinlock_lock(&device->memory_lock);
    range = allocator_classify(device->allocator, address, bytes, block, block_bytes);
    spinlock_unlock(&device->memory_lock);
    return range;
}

/* ---- queues of the device ---- */

static struct omprma_queue *new_queue(struct device *device)
{
    struct omprma_queue *queue;

    if (device->queue_count == QUEUES_MOST)
        return NULL;
    if (device->queue_count == device->queue_capacity) {
        uint32_t capacity = device->queue_capacity ? 2 * device->queue_capacity : 16;
        struct omprma_queue **queues = realloc(device->queues, capacity * sizeof(*queues));

        if (!queues)
            return NULL;
        device->queues = queues;
        device->queue_capacity = capacity;
    }
    queue = calloc(1, sizeof(*queue));
    if (!queue)
        return NULL;
    queue->device = device;
    queue->number = device->queue_count;
    device->queues[device->queue_count++] = queue;
    return queue;
}

omprma_status_t queue_take(struct device *device, struct omprma_queue **out)
{
    struct omprma_queue *queue = device->free_queues;

    if (queue)
        device->free_queues = queue->next_free;
    else
        queue = new_queue(device);
    if (!queue)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "%s: no memory for another queue, %u exist",
                         device_name(device), device->queue_count);
    queue->in_use = true;
    *out = queue;
    return OMPRMA_OK;
}

void queue_give(struct omprma_queue *queue)
{
    queue->in_use = false;
    operation_drop(&queue->device->runtime->operations, queue->sender);
    queue->sender = NULL;
    queue->next_free = queue->device->free_queues;
    queue->device->free_queues = queue;
}

/* ---- what becomes of it ---- */

void device_fail_queues(struct device *device)
{
    for (uint32_t i = 0; i < device->queue_count; i++)
        queue_lose(device->queues[i], device->lost_text);
}

void device_note_crash(struct device *device, const char *text)
{
    if (!device->lost_text[0])
        snprintf(device->lost_text, sizeof(device->lost_text), "%s", text);
}

omprma_status_t device_check_alive(const struct device *device)
{
    return device->lost_text[0] ? error_set(OMPRMA_ERR_DEVICE_LOST, "%s", device->lost_text)
                                : OMPRMA_OK;
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
    if (device->lost)
        return error_set(OMPRMA_ERR_DEVICE_LOST, "%s", device->lost_text);
    device->commanding = true;
    sent.flags |= WIRE_REPLY;
    status = queue_append_command(queue, OPERATION_COMMAND, &sent, &command);
    if (status == OMPRMA_OK) {
        operation_hold(command);
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
