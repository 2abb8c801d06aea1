/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel_names.c: a device has a list of the images that were loaded, and each image an array of
 * the kernels that were looked up in it. Nothing is ever taken out before the end, and only
 * messages ask for a name, so a search from the beginning is fast enough.
 */
#include "host/device/kernel_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

omprma_status_t kernel_names_add(struct image_record *record, const omprma_symbol_t *symbol)
{
    struct image_kernel *kernels =
        realloc(record->kernels, (record->kernel_count + 1) * sizeof(*kernels));

    if (!kernels)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the names of kernels");
    record->kernels = kernels;
    kernels[record->kernel_count].address = symbol->address;
    kernels[record->kernel_count].name = strdup(symbol->name);
    if (!kernels[record->kernel_count].name)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the names of kernels");
    record->kernel_count++;
    return OMPRMA_OK;
}

const char *kernel_names_find(const struct device *device, omprma_addr_t kernel)
{
    for (const struct image_record *record = device->images; record; record = record->next)
        for (size_t i = 0; i < record->kernel_count; i++)
            if (record->kernels[i].address == kernel)
                return record->kernels[i].name;
    return "?";
}

void kernel_names_forget(struct device *device)
{
    while (device->images) {
        struct image_record *record = device->images;

        device->images = record->next;
        for (size_t i = 0; i < record->kernel_count; i++)
            free(record->kernels[i].name);
        free(record->kernels);
        free(record);
    }
}
