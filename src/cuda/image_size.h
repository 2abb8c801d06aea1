/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image_size.h: how long an image is that a program hands over as a bare pointer. Knows nothing of
 * modules.
 */
#ifndef OMPRMA_CUDA_IMAGE_SIZE_H
#define OMPRMA_CUDA_IMAGE_SIZE_H

#include <stddef.h>

/* `*image` is moved to the image itself where it points to a wrapper around it. 0: neither a cubin,
 * a fat binary, what cuLinkComplete() gave, nor PTX text. */
size_t image_size(const void **image);

#endif
