/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * module.h: modules and the functions in them. A module is what the worker's driver made of an
 * image; what is known of a function came in one answer when it was looked up.
 *
 * Thread: any. Blocks: whatever asks the worker.
 */
#ifndef OMPRMA_CUDA_MODULE_H
#define OMPRMA_CUDA_MODULE_H

#include <stdint.h>
#include <sys/queue.h>

#include "cuda/context.h"
#include "cuda/remote.h"

struct function {
    uint32_t tag; /* FUNCTION_TAG */
    LIST_ENTRY(function) link;
    struct module *module;
    char *name;
    struct cuda_function *remote;
};
enum { FUNCTION_TAG = 0x46554e43 };

LIST_HEAD(function_list, function);

struct module {
    uint32_t tag; /* MODULE_TAG */
    LIST_ENTRY(module) link;
    struct context *context;
    uint64_t number;                /* omprma's */
    struct described *described;    /* where the driver cannot tell parameters */
    struct function_list functions; /* under the context's lock */
};
enum { MODULE_TAG = 0x4d4f4455 };

struct described;

/* Loads [image, image + bytes). Errors: what the worker's driver says, with a line. */
CUresult module_load(struct context *context, const void *image, size_t bytes, CUmodule *module);

/* Unloads all of a context, whose streams are idle. */
void modules_clear(struct context *context);

/* A handle of the program's, and its GPU is not lost. Errors: INVALID_HANDLE, the sticky one. */
CUresult function_check(CUfunction function);

/* What the driver calls the module's and the function's GPU. */
struct gpu *function_gpu(const struct function *function);

#endif
