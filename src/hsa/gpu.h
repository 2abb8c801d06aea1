/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu.h: the AMD GPUs of all workers, and what is known of each. Ordinals are the program's, from
 * 0, in the order of omprma's devices, which counts those of all kinds. Agents of the program are
 * these and one for the host.
 *
 * Thread: any, after gpus_find(). Blocks: gpus_find() and gpu_free_bytes() for round trips.
 */
#ifndef OMPRMA_HSA_GPU_H
#define OMPRMA_HSA_GPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <omprma/omprma.h>

#include "base/hsa_abi.h"
#include "base/hsa_questions.h"

struct gpu {
    int ordinal, device; /* the program's number, omprma's */
    uint64_t *facts;   /* all that the worker's runtime has said of it: struct hsa_fact, one behind
                        * the other */
    size_t fact_words; /* of 8 bytes */
    char isa[64];      /* "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-": as programs see it */
    size_t bytes;      /* of device memory */
    _Atomic uint32_t lost; /* 0, or the hsa_status_t that all calls return from now on */
};

/* The host's agent. */
extern const hsa_agent_t cpu_agent;

/* After omprma_init(), before other threads ask: instead of those of a former call. A GPU that
 * cannot say what it is is left out, with its line. */
void gpus_find(void);

/* In a forked child: it has none. */
void gpus_forget(void);

int gpu_count(void);

/* NULL: no such ordinal. */
struct gpu *gpu_at(int ordinal);

/* NULL: the host's agent, or no agent. */
struct gpu *gpu_of(hsa_agent_t agent);

/* NULL: none of omprma's devices of this kind. */
struct gpu *gpu_of_device(int device);

hsa_agent_t gpu_agent(const struct gpu *gpu);

/* Is it the host's or a GPU's? */
bool agent_exists(hsa_agent_t agent);

/* What the worker's runtime has said; NULL: it has refused that, or is older. */
const struct hsa_fact *gpu_fact(const struct gpu *gpu, enum hsa_subject subject, unsigned index,
                                uint32_t attribute);

/* A fact of at most 8 bytes as a number, or `otherwise`. */
uint64_t gpu_number(const struct gpu *gpu, enum hsa_subject subject, unsigned index,
                    uint32_t attribute, uint64_t otherwise);

/* Bytes of device memory that are free now. Blocks. Errors: as omprma_device_ask(). */
omprma_status_t gpu_free_bytes(const struct gpu *gpu, uint64_t *bytes);

/* SUCCESS, or what the GPU is lost by. */
hsa_status_t gpu_usable(const struct gpu *gpu);

/* From now on its calls return `status`, unless they return another one already. At the first time
 * the function of gpu_when_lost() is called, on this thread. */
void gpu_lose(struct gpu *gpu, hsa_status_t status);

/* Who tells the program of it. To be set before the first GPU is used. */
void gpu_when_lost(void (*told)(struct gpu *gpu, hsa_status_t status));

#endif
