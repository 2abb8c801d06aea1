/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * common.c: each device keeps the arena that it came with, unused, because the others have nothing
 * at its addresses.
 */
#include "host/device/common.h"

#include <stdlib.h>

#include "base/error.h"

omprma_status_t common_memory_make(struct runtime *runtime, struct device **devices, int count)
{
    struct device_memory *memory = calloc(1, sizeof(*memory));
    omprma_status_t status;

    if (!memory)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for what devices have in common");
    runtime->common = memory;
    status = device_memory_open(memory, "memory that devices have in common");
    for (int i = 0; i < count && status == OMPRMA_OK; i++)
        status = device_memory_add(memory, devices[i]);
    if (status != OMPRMA_OK)
        common_memory_undo(runtime);
    return status;
}

void common_memory_undo(struct runtime *runtime)
{
    for (int i = 0; i < runtime->common->device_count; i++) {
        struct device *device = runtime->common->devices[i];

        device->memory = &device->own_memory;
    }
    common_memory_free(runtime);
}

void common_memory_free(struct runtime *runtime)
{
    struct device_memory *memory = runtime->common;

    if (!memory)
        return;
    device_memory_close(memory);
    free(memory);
    runtime->common = NULL;
}
