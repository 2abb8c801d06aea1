/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * offload_binary.h: LLVM's file format for device images (clang 15 and 16 wrap them in it, other
 * versions register the bare image). Knows nothing of images.
 */
#ifndef OMPRMA_OPENMP_ABI_OFFLOAD_BINARY_H
#define OMPRMA_OPENMP_ABI_OFFLOAD_BINARY_H

#include <stdbool.h>
#include <stddef.h>

/* If [*start, *start + *bytes) is such a file, sets both to the image in it. False: it is one, but
 * what it says lies outside of it. */
bool offload_binary_open(const char **start, size_t *bytes);

#endif
