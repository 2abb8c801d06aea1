/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kind.h: a kind of GPU, as main.c sees it. What it does once a device is made is in driver.h.
 *
 * Thread: the one that starts and ends the worker.
 */
#ifndef OMPRMA_WORKER_GPU_KIND_H
#define OMPRMA_WORKER_GPU_KIND_H

#include <stdint.h>

#include "base/gpu_library.h"

struct worker_device;
struct world_device;

struct gpu_kind {
    /* Opens the driver's library and counts the GPUs of this host. Errors: UNSUPPORTED (there is
     * no driver, it is too old, or it has no GPU), in a line; then nothing is open. */
    omprma_status_t (*open)(int *count);

    /* Makes `device`, whose server and index are set, GPU number `ordinal`, which may hand out
     * memory_bytes, 0: 90 % of what is free. Its backend's close() ends it. Errors: HOST_MEMORY,
     * those of the driver. */
    omprma_status_t (*make)(struct worker_device *device, int ordinal, uint64_t memory_bytes);

    /* What is to be said of it at start-up. */
    void (*describe)(const struct worker_device *device, struct world_device *description);

    /* Ends what open() has opened, if anything. */
    void (*close)(void);
};

/* In the order of gpu_libraries[]. */
extern const struct gpu_kind *const gpu_kinds[GPU_LIBRARIES];

#endif
