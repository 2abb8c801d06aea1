/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * result.h: from omprma's errors to what functions of the runtime return. It brings the lines for
 * users, too (face/driver/report.h).
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_HSA_RESULT_H
#define OMPRMA_HSA_RESULT_H

#include <stdbool.h>

#include <omprma/omprma.h>

#include "base/hsa_abi.h"
#include "face/driver/report.h"

struct gpu;

/* For the calling thread's last error, if `status` is one: the code of the worker's runtime where
 * there is one. Prints omprma's line, and has the GPU remember what leaves it unusable
 * (gpu_lose()). `gpu` may be NULL. */
hsa_status_t result_of(struct gpu *gpu, omprma_status_t status);

/* The same without a line, where the caller has one that says more. */
hsa_status_t result_quiet(struct gpu *gpu, omprma_status_t status);

/* Is the GPU unusable after this, so that all later calls return the same? */
bool result_is_sticky(hsa_status_t status);

/* "HSA_STATUS_ERROR_FATAL"; NULL: no such code. */
const char *result_name(hsa_status_t status);

#endif
