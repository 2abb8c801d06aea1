/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernels.h: the device images with the kernels that are measured, perf_empty and perf_add: of
 * kernels/empty.c, and the same for GPUs. */
#ifndef OMPRMA_PERF_KERNELS_H
#define OMPRMA_PERF_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

struct kernels {
    const void *image;
    size_t bytes;
};

/* For devices of that kind. False: there are none. */
bool kernels_find(const char *backend, struct kernels *kernels);

/* Of cuda.c. NULL for devices of another kind. */
struct kernels cuda_kernels(const char *backend);

#endif
