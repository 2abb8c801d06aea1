/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * described.h: what a cubin says about the parameters of its kernels, for drivers that cannot tell
 * (before 12.4). Knows nothing of modules.
 */
#ifndef OMPRMA_CUDA_DESCRIBED_H
#define OMPRMA_CUDA_DESCRIBED_H

#include <stddef.h>

#include "cuda/remote.h"

/* The kernels of an image, malloced; NULL: none are described, it is no cubin, or no memory. */
struct described;
struct described *described_read(const void *image, size_t bytes);
void described_free(struct described *described);

/* Puts the parameters of kernel `name` into `*function`, which may move. Nothing, where they are
 * not described. */
void described_fill(const struct described *described, const char *name,
                    struct cuda_function **function);

#endif
