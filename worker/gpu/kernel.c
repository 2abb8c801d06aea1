/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kernel.c: the kernels that may be launched, by address, in a hash table. The helper thread adds
 * and forgets while the serving thread looks, so that gets a copy, under a lock.
 */
#include <stdlib.h>

#include "worker/gpu/gpu.h"

static struct gpu_kernel **slot_of(struct gpu *gpu, uint64_t address)
{
    return &gpu->kernels[(address * UINT64_C(0x9e3779b97f4a7c15) >> 32) % GPU_KERNEL_SLOTS];
}

bool gpu_kernel_find(struct gpu *gpu, uint64_t address, struct gpu_kernel *kernel)
{
    const struct gpu_kernel *found;

    pthread_mutex_lock(&gpu->kernel_lock);
    found = *slot_of(gpu, address);
    while (found && found->address != address)
        found = found->next;
    if (found)
        *kernel = *found;
    pthread_mutex_unlock(&gpu->kernel_lock);
    return found != NULL;
}

omprma_status_t gpu_kernel_add(struct gpu *gpu, const struct gpu_kernel *kernel)
{
    struct gpu_kernel *copy = malloc(sizeof(*copy)), **slot = slot_of(gpu, kernel->address);

    if (!copy)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to remember kernel %s", kernel->name);
    *copy = *kernel;
    pthread_mutex_lock(&gpu->kernel_lock);
    copy->next = *slot;
    *slot = copy;
    pthread_mutex_unlock(&gpu->kernel_lock);
    return OMPRMA_OK;
}

static void forget_in(struct gpu_kernel **link, const void *module)
{
    while (*link) {
        struct gpu_kernel *kernel = *link;

        if (kernel->module != module) {
            link = &kernel->next;
            continue;
        }
        *link = kernel->next;
        free(kernel);
    }
}

void gpu_kernel_forget(struct gpu *gpu, const void *module)
{
    pthread_mutex_lock(&gpu->kernel_lock);
    for (int i = 0; i < GPU_KERNEL_SLOTS; i++)
        forget_in(&gpu->kernels[i], module);
    pthread_mutex_unlock(&gpu->kernel_lock);
}
