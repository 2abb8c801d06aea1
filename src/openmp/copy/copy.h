/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy.h: copies between any two of host and devices, for the omp_target_memcpy family.
 *
 * Thread: any. Blocks: until the copy is complete. Errors: what the omp_* function returns, 0 for
 * success; reported.
 */
#ifndef OMPRMA_OPENMP_COPY_COPY_H
#define OMPRMA_OPENMP_COPY_COPY_H

#include <stdbool.h>
#include <stddef.h>

enum { RECTANGLE_DIMENSIONS = 16 };

struct copy {
    char *to;
    const char *from;
    int to_device, from_device;
    size_t bytes; /* of a plain copy, of an element of a rectangle */
    int dimensions;
    const size_t *volume, *to_offsets, *from_offsets, *to_dimensions, *from_dimensions;
    const void *code; /* where the program goes on after its call, for tools */
    bool async;       /* it has gone on already */
};

/* dimensions == 0: plain. */
int copy_run(const struct copy *copy);

/* `to`, `to_device`, `bytes` of what is to be filled. */
int fill_run(const struct copy *filled, int value);

#endif
