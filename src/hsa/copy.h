/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy.h: copies between any two of host and GPUs, which addresses tell.
 *
 * Thread: any. Blocks: as the functions of omprma that put something into a queue.
 */
#ifndef OMPRMA_HSA_COPY_H
#define OMPRMA_HSA_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include <omprma/omprma.h>

#include "base/hsa_abi.h"

struct gpu;

struct copy {
    void *to;
    const void *from;
    size_t bytes;                  /* in all */
    struct gpu *to_gpu, *from_gpu; /* NULL: the host */
    bool shaped;
    omprma_shape_t shape; /* of the runs, if there is more than one */
};

/* Finds out whose both ends are. `to_bytes` and `from_bytes` are what the runs reach over. Errors:
 * INVALID_ARGUMENT with a line (beyond a block), those of a lost GPU. */
hsa_status_t copy_find(struct copy *copy, size_t to_bytes, size_t from_bytes);

/* Has it done after the dependencies are 0; the signal (0: none) is counted down when the source
 * may be overwritten and, but for copies to a GPU, the data is there. Errors: OUT_OF_RESOURCES,
 * those of omprma. */
hsa_status_t copy_begin(const struct copy *copy, uint32_t count, const hsa_signal_t *dependencies,
                        hsa_signal_t signal);

#endif
