/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel.h: kernels that packets name. A kernel object is the worker's handle of the kernel.
 *
 * Thread: any. Blocks: no. A kernel stays until its executable is destroyed.
 */
#ifndef OMPRMA_HSA_KERNEL_H
#define OMPRMA_HSA_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <omprma/omprma.h>

struct gpu;

struct kernel {
    omprma_addr_t address;
    uint32_t argument_bytes; /* 0: not known (code of gcc) */
    const char *name;
};

/* NULL: the GPU has no such one. */
struct kernel *kernel_find(struct gpu *gpu, uint64_t object);

/* The kernel is the caller's. False: no memory. */
bool kernel_add(struct gpu *gpu, struct kernel *kernel);
void kernel_take(struct gpu *gpu, const struct kernel *kernel);

#endif
