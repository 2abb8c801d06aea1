/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device.c: devices stand in one array by their number. A crash is noted once: the first text
 * stays.
 */
#include "host/core/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"

const char *device_name(const struct device *device)
{
    static _Thread_local char text[96];

    snprintf(text, sizeof(text), "device %d (%s)", device->number, device->peer->hello.host);
    return text;
}

void device_map(struct device *device, const struct shm_address *file, uint64_t base,
                uint64_t bytes)
{
    if (file->pid && !mapped_add(&device->mapped, file, base, bytes))
        log_write(LOG_CHOICE, "%s: its memory cannot be mapped: %s", device_name(device),
                  strerror(errno));
}

static void map_first(struct device *device)
{
    const struct world_device *about = &device->about;

    if (device_is_staged(device))
        device_map(device, &about->file, about->staging, about->staging_bytes);
    else
        device_map(device, &about->file, about->arena, about->arena_bytes);
}

/* That of a GPU is not used where something else in the program has its addresses: the first block
 * asks for another. */
static omprma_status_t take_first_arena(struct device *device)
{
    struct device_memory *memory = device->memory;
    const struct world_device *about = &device->about;

    if (!addresses_keep(&memory->addresses, about->arena, about->arena_bytes) &&
        device_has_driver(device)) {
        memory->held[memory->held_count++] = (struct held_arena){about->arena, about->arena_bytes};
        return OMPRMA_OK;
    }
    memory->attached_bytes = about->arena_bytes;
    return allocator_add_arena(memory->allocator, about->arena, about->arena_bytes);
}

omprma_status_t device_make(struct peer *peer, int index, const struct world_device *about,
                            struct device **out)
{
    struct device *device = calloc(1, sizeof(*device));
    omprma_status_t status;
    char whose[32];

    if (!device)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a device");
    device->runtime = peer->runtime;
    device->peer = peer;
    device->number = peer->first_device + index;
    device->index = (uint16_t)index;
    device->about = *about;
    device->about.backend[sizeof(about->backend) - 1] = 0;
    device->native = strcmp(device->about.backend, "native") == 0;
    slots_open(&device->staging, about->staging, about->staging_bytes, SLOT_BYTES);
    device->about.model[sizeof(about->model) - 1] = 0;
    device->memory = &device->own_memory;
    snprintf(whose, sizeof(whose), "device %d", device->number);
    status = device_memory_open(device->memory, whose);
    if (status == OMPRMA_OK)
        status = device_memory_add(device->memory, device);
    if (status == OMPRMA_OK)
        status = take_first_arena(device);
    if (status == OMPRMA_OK)
        map_first(device);
    if (status != OMPRMA_OK) {
        device_free(device);
        return status;
    }
    *out = device;
    return OMPRMA_OK;
}

void device_free(struct device *device)
{
    if (!device)
        return;
    free(device->queues);
    /* Else something may still be written there. */
    if (!device->lost && device->packing.sound == device->packing.count)
        free(device->packing_here);
    shm_memory_close(&device->shared);
    free(device->shared_in);
    device_memory_close(&device->own_memory);
    mapped_drop_all(&device->mapped);
    free(device);
}

omprma_status_t device_memory_open(struct device_memory *memory, const char *whose)
{
    spinlock_init(&memory->lock);
    memory->allocator = allocator_create();
    if (memory->allocator)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_HOST_MEMORY,
                     "%s: no address space for its books; if the shell limits it (ulimit -v), "
                     "raise the limit",
                     whose);
}

void device_memory_close(struct device_memory *memory)
{
    allocator_destroy(memory->allocator);
    addresses_clear(&memory->addresses);
    free(memory->devices);
}

omprma_status_t device_memory_add(struct device_memory *memory, struct device *device)
{
    struct device **devices =
        realloc(memory->devices, ((size_t)memory->device_count + 1) * sizeof(struct device *));

    if (!devices)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a list of devices");
    memory->devices = devices;
    memory->devices[memory->device_count++] = device;
    device->memory = memory;
    return OMPRMA_OK;
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
    omprma_addr_t start = 0;

    spinlock_lock(&device->memory->lock);
    range = allocator_classify(device->memory->allocator, address, bytes, &start, block_bytes);
    if (range == RANGE_LIVE && device_has_retired(device, start))
        range = RANGE_FREE;
    spinlock_unlock(&device->memory->lock);
    if (block)
        *block = start;
    return range;
}

bool device_has_retired(const struct device *device, omprma_addr_t block)
{
    const struct retired *retired = device->memory->retired_first;

    while (retired && retired->block != block)
        retired = retired->next;
    return retired != NULL;
}

void device_note_crash(struct device *device, int code, const char *text)
{
    if (device->lost_text[0])
        return;
    snprintf(device->lost_text, sizeof(device->lost_text), "%s", text);
    device->lost_code = code;
}

omprma_status_t device_check_alive(const struct device *device)
{
    if (!device->lost_text[0])
        return OMPRMA_OK;
    error_set(OMPRMA_ERR_DEVICE_LOST, "%s", device->lost_text);
    return error_note_code(OMPRMA_ERR_DEVICE_LOST, device->lost_code);
}

bool device_is_same_kind(const struct device *a, const struct device *b)
{
    return strcmp(a->about.backend, b->about.backend) == 0 &&
           a->about.one_sided == b->about.one_sided && strcmp(a->about.model, b->about.model) == 0;
}

bool device_is_like(const struct device *a, const struct device *b)
{
    return device_is_same_kind(a, b) && peer_shares_host(a->peer, b->peer);
}
