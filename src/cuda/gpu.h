/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu.h: the CUDA devices of all workers, and what is known of each. Ordinals are the program's
 * numbers, from 0; omprma counts all devices of all kinds.
 *
 * Thread: any, after gpus_find(). Blocks: gpus_find() and the first question about a GPU may.
 */
#ifndef OMPRMA_CUDA_GPU_H
#define OMPRMA_CUDA_GPU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <omprma/omprma.h>

#include "cuda/abi.h"
#include "cuda/remote.h"
#include "face/driver/block.h"

struct gpu {
    int ordinal, device; /* the program's number, omprma's */
    struct cuda_device properties;
    _Atomic CUresult lost;        /* CUDA_SUCCESS, or what all calls return from now on */
    struct blocks blocks;         /* device memory that the program has */
    pthread_mutex_t primary_lock; /* guards the three below */
    struct context *primary;      /* NULL until it is first retained */
    unsigned primary_references, primary_flags;
    pthread_mutex_t helper_lock;
    omprma_queue_t *helper;   /* for copies from here that a queue of another GPU orders */
    omprma_queue_t *arrivals; /* waits for copies to here by queues of other GPUs */
};

/* Once, after omprma_init(). Errors: NO_DEVICE, OUT_OF_MEMORY, those of questions. */
CUresult gpus_find(void);

int gpu_count(void);

/* NULL: no such ordinal. */
struct gpu *gpu_at(int ordinal);

/* The oldest driver among them; 0: they have not been looked for, or there is none. */
int gpus_driver_version(void);

/* From now on its calls return `result`, unless they return another one already. */
void gpu_lose(struct gpu *gpu, CUresult result);

/* 0 for attributes that the driver there does not know. What cannot be had remotely is 0. */
int gpu_attribute(const struct gpu *gpu, int attribute);

#endif
