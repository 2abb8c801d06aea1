/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * result.h: from omprma's errors to what functions of the driver return. It brings the lines for
 * users, too (face/driver/report.h).
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_CUDA_RESULT_H
#define OMPRMA_CUDA_RESULT_H

#include <omprma/omprma.h>

#include "cuda/abi.h"
#include "face/driver/report.h"

struct gpu;

/* For the calling thread's last error, if `status` is one: the driver's own code where there is
 * one. Prints omprma's line, and has the GPU remember what leaves it unusable. `gpu` may be NULL.
 */
CUresult result_of(struct gpu *gpu, omprma_status_t status);

/* Is the device unusable after this, so that all later calls return the same? */
bool result_is_sticky(CUresult result);

/* NULL: no such code. */
const char *result_name(CUresult result);

#endif
