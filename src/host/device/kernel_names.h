/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel_names.h: which images a device has, and the names of their kernels: for messages about a
 * kernel, and so that no image is loaded twice.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_DEVICE_KERNEL_NAMES_H
#define OMPRMA_HOST_DEVICE_KERNEL_NAMES_H

#include <xxhash.h>

#include "host/core/device.h"

struct image_kernel {
    omprma_addr_t address;
    char *name;
};

/* An image on a device. The bytes stay there: another device may fetch them. */
struct image_record {
    struct image_record *next;
    XXH128_hash_t hash;
    uint64_t bytes;
    omprma_addr_t address;
    struct image_kernel *kernels;
    size_t kernel_count;
};

/* Keeps the name of a kernel of the image. Errors: HOST_MEMORY. */
omprma_status_t kernel_names_add(struct image_record *record, const omprma_symbol_t *symbol);

/* Name of a kernel of the device, "?" if it is none that was looked up. */
const char *kernel_names_find(const struct device *device, omprma_addr_t kernel);

/* Frees the records of a device. */
void kernel_names_forget(struct device *device);

#endif
