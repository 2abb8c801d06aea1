/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernel.c: a tree by handle for each GPU, as blocks of one byte. */
#include "hsa/kernel.h"

#include <pthread.h>
#include <stdlib.h>

#include "face/driver/block.h"
#include "hsa/gpu.h"

static struct kernels {
    pthread_once_t once;
    struct blocks *gpus; /* by ordinal */
} kernels = {.once = PTHREAD_ONCE_INIT};

static void kernels_open(void)
{
    kernels.gpus = calloc((size_t)gpu_count() + 1, sizeof(*kernels.gpus));
    for (int i = 0; kernels.gpus && i < gpu_count(); i++)
        blocks_open(&kernels.gpus[i]);
}

/* NULL: no memory. */
static struct blocks *kernels_of(const struct gpu *gpu)
{
    pthread_once(&kernels.once, kernels_open);
    return kernels.gpus ? &kernels.gpus[gpu->ordinal] : NULL;
}

struct kernel *kernel_find(struct gpu *gpu, uint64_t object)
{
    struct blocks *blocks = kernels_of(gpu);
    struct block block;

    return blocks && blocks_find(blocks, object, &block) ? block.owner : NULL;
}

bool kernel_add(struct gpu *gpu, struct kernel *kernel)
{
    struct blocks *blocks = kernels_of(gpu);
    struct block block = {.address = kernel->address, .bytes = 1, .owner = kernel};

    return blocks && blocks_add(blocks, &block) != BLOCK_NO_MEMORY;
}

void kernel_take(struct gpu *gpu, const struct kernel *kernel)
{
    struct block block;

    if (!blocks_take(kernels_of(gpu), kernel->address, NULL, &block))
        return;
    if (block.owner != kernel) /* another name of it */
        blocks_add(kernels_of(gpu), &block);
}
