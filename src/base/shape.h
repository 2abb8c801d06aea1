/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * shape.h: memory of which every so many bytes count: runs of some bytes, up to three strides deep.
 * Runs are numbered, the innermost dimension first; packed they lie behind each other, in that
 * order. Knows nothing of devices.
 *
 * Thread: no shared state. Blocks: never.
 */
#ifndef OMPRMA_BASE_SHAPE_H
#define OMPRMA_BASE_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

enum { SHAPE_RANK = 3 };

#define SHAPE_MOST (UINT64_C(1) << 47) /* bytes that a shape may reach over, or has in all */

struct shape {
    uint64_t bytes;              /* of a run */
    uint64_t count[SHAPE_RANK];  /* of runs in each dimension, the innermost first; at least 1 */
    uint64_t stride[SHAPE_RANK]; /* from one to the next, in bytes */
};

/* Nothing is empty, and all sums of the functions below fit. They rely on it. */
bool shape_is_sound(const struct shape *shape);

/* How many runs there are; from the begin of the first one to the end of the one that lies last. */
uint64_t shape_runs(const struct shape *shape);
uint64_t shape_reach(const struct shape *shape);

/* Where a run begins, from the begin of the first one. */
uint64_t shape_at(const struct shape *shape, uint64_t run);

/* Copies `runs` runs from the one with number `first` on, of the shape that begins at `at`, to
 * packed memory, or back. */
void shape_pack(const struct shape *shape, const void *at, uint64_t first, uint64_t runs,
                void *packed);
void shape_unpack(const struct shape *shape, void *at, uint64_t first, uint64_t runs,
                  const void *packed);

/* The same from one shape to another one, which has as many runs in each dimension, as long. */
void shape_copy(const struct shape *from_shape, const void *from, const struct shape *to_shape,
                void *to, uint64_t first, uint64_t runs);

#endif
