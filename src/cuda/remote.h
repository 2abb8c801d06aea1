/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * remote.h: what is asked of the worker's backend, one function per question of
 * base/cuda_questions.h.
 *
 * Thread: any. Blocks: yes, one round trip. Errors: omprma's; omprma_error_code() is the driver's.
 */
#ifndef OMPRMA_CUDA_REMOTE_H
#define OMPRMA_CUDA_REMOTE_H

#include <omprma/omprma.h>

#include "base/cuda_questions.h"

omprma_status_t remote_device(int device, struct cuda_device *answer);

omprma_status_t remote_limit_get(int device, int limit, uint64_t *value);
omprma_status_t remote_limit_set(int device, int limit, uint64_t value);

/* ---- modules, by omprma_module_load()'s number ---- */

omprma_status_t remote_module_unload(int device, uint64_t module);

/* `*function` is to be freed, with free(). */
omprma_status_t remote_function(int device, uint64_t module, const char *name,
                                struct cuda_function **function);

omprma_status_t remote_global(int device, uint64_t module, const char *name,
                              struct cuda_global *global);

/* ---- functions, by cuda_function.function ---- */

omprma_status_t remote_attribute_get(int device, uint64_t function, int attribute, int *value);
omprma_status_t remote_attribute_set(int device, uint64_t function, int attribute, int value);

omprma_status_t remote_occupancy(int device, const struct cuda_occupancy_question *question,
                                 struct cuda_occupancy *answer);

#endif
