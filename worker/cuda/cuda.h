/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cuda.h: devices that are NVIDIA GPUs of this machine, by the CUDA driver interface: what
 * worker/gpu does not know of them.
 *
 * - driver.c: the driver: opened at run time, errors in words
 * - cuda.c: its calls as worker/gpu makes them; opening, closing, description
 * - module.c: images, modules, and the kernels in them
 * - question.c: what omprma_device_ask() asks, see base/cuda_questions.h
 *
 * Thread: with the server's lock held, but for what runs on the helper thread.
 */
#ifndef OMPRMA_WORKER_CUDA_CUDA_H
#define OMPRMA_WORKER_CUDA_CUDA_H

#include "worker/cuda/driver.h"
#include "worker/gpu/gpu.h"
#include "worker/gpu/kind.h"

struct cuda_module;

struct cuda {
    struct gpu gpu;
    const struct driver *driver;
    int handle; /* the driver's, of the GPU */
    driver_context context;
    struct cuda_module *modules; /* the helper thread's */
};

static inline struct cuda *cuda_of(const struct gpu *gpu)
{
    return (struct cuda *)gpu;
}

/* ---- cuda.c */

extern const struct gpu_kind cuda_kind;

/* ---- module.c, on the helper thread */

omprma_status_t cuda_load(struct gpu *gpu, const struct backend_load *load, uint64_t *value);

/* Looks a name up in a module, or, 0, in the images. Errors: ARGUMENT (no such module), SYMBOL. */
omprma_status_t module_find_function(struct cuda *cuda, uint64_t module, const char *name,
                                     driver_function *function);
omprma_status_t module_find_global(struct cuda *cuda, uint64_t module, const char *name,
                                   uint64_t *address, size_t *bytes);
omprma_status_t module_unload(struct cuda *cuda, uint64_t module);
void module_unload_all(struct cuda *cuda);

/* ---- question.c, on the helper thread */

omprma_status_t cuda_answer(struct gpu *gpu, struct backend_ask *ask);

#endif
