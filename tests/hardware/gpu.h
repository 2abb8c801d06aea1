/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu.h: what programs of tests/hardware and perf/gpu do with the first GPUs of a machine, whatever
 * kind they are of: gpu_cuda.c by the CUDA driver interface, gpu_hsa.c by the HSA interface, each
 * by whichever library the loader finds: the real one, a stand-in for it, or omprma's. One thread.
 *
 * GPU 0 has one stream: what it is given is done in order, and gpu_wait() waits for all of it.
 * Where something fails, a line says so, and the process ends with status 1.
 */
#ifndef OMPRMA_TESTS_HARDWARE_GPU_H
#define OMPRMA_TESTS_HARDWARE_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GPU_NONE = 77,   /* status of a process that has found no GPU */
    GPU_GROUP = 64,  /* threads of a group of a kernel */
    GPU_WORDS = 8,   /* most parameters of a kernel */
    GPU_AHEAD = 1000 /* most launches before gpu_wait() */
};

/* Starts. `kernels`: files with the kernels of kernels.cl, NAME.ptx or NAME.gfx90a and so on, less
 * what is behind the dot. Returns how many GPUs can be used, 1 or 2; where there is none, a line
 * says so and the process ends with GPU_NONE. */
int gpu_begin(const char *kernels);

/* What GPU 0 is called. */
const char *gpu_name(void);

/* Memory of a GPU, and memory of the host for copies. Never freed. */
uint64_t gpu_allocate(int gpu, size_t bytes);
void *gpu_host(size_t bytes);

/* A kernel of GPU 0. The pointer stays. */
const struct gpu_kernel *gpu_kernel(const char *name);

/* Nobody is told when a launch with GPU_MORE behind it ends: another launch follows. */
enum gpu_behind { GPU_MORE, GPU_LAST };
void gpu_launch(const struct gpu_kernel *kernel, unsigned groups, const uint64_t *words,
                unsigned count, enum gpu_behind behind);

/* Host memory is of gpu_host(), and stays as it is until gpu_wait(). */
void gpu_submit(uint64_t to, const void *from, size_t bytes);
void gpu_retrieve(void *to, uint64_t from, size_t bytes);

/* From GPU 0 to GPU 1. */
void gpu_exchange(uint64_t to, uint64_t from, size_t bytes);

void gpu_wait(void);

#endif
