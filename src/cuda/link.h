/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * link.h: cuLink*: inputs are gathered here and linked by the worker's driver when they are
 * complete. What cuLinkComplete() gives back as a cubin is what was gathered; loading it takes the
 * module that was made then.
 *
 * Thread: any. Blocks: cuLinkComplete() asks the worker.
 */
#ifndef OMPRMA_CUDA_LINK_H
#define OMPRMA_CUDA_LINK_H

#include <stdbool.h>

#include "cuda/context.h"

/* If the image is what a link gave whose module is not taken yet, takes it. */
bool link_taken(struct context *context, const void *image, CUmodule *module);

/* Writes the line of the calling thread's last error, if `result` is one, where the program's
 * options of the compiler ask for it. */
void jit_log(unsigned count, const int *options, void *const *values, CUresult result);

#endif
