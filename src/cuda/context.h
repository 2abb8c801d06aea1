/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * context.h: contexts: what a program has on one GPU, and what ends with it: streams, modules,
 * memory. Contexts are never given back, so one that other threads still have as their current one
 * is known to be destroyed.
 *
 * Thread: any. Blocks: context_clear(), context_settle() and contexts_settle() wait for GPUs.
 */
#ifndef OMPRMA_CUDA_CONTEXT_H
#define OMPRMA_CUDA_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "cuda/abi.h"
#include "cuda/gpu.h"

struct stream;
struct module;
LIST_HEAD(stream_list, stream);
LIST_HEAD(module_list, module);

struct context {
    uint32_t tag; /* CONTEXT_TAG */
    unsigned flags;
    uint64_t number; /* never the same again */
    struct gpu *gpu;
    atomic_bool alive;
    pthread_mutex_t lock;       /* guards what follows */
    struct stream_list streams; /* also destroyed ones whose work is not over */
    struct module_list modules;
    struct stream *_Atomic legacy; /* the null stream; NULL until it is used; read without it */
    SLIST_ENTRY(context) link;     /* of all there ever were */
};
enum { CONTEXT_TAG = 0x43545855 };

/* NULL: no memory. */
struct context *context_make(struct gpu *gpu, unsigned flags);

/* Destroys all that is in it, and makes it unusable. */
void context_clear(struct context *context);

/* Waits for all its streams; the first error among them. */
CUresult context_settle(struct context *context);

/* The same for all contexts of all GPUs that can still be used. */
CUresult contexts_settle(void);

/* A handle of the program's. Errors: INVALID_CONTEXT. */
CUresult context_check(struct context *context);

/* Errors: CONTEXT_IS_DESTROYED, the GPU's sticky one. */
CUresult context_usable(struct context *context);

#endif
