/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * starting.h: calls from inside of omprma_init(), for omprma's own faces. MPI opens libraries that
 * look for GPUs (UCX's module for ROCm), and they find omprma's libraries of a GPU's interface. It
 * belongs to libomprma.so of the same version and is not installed.
 */
#ifndef OMPRMA_PRIVATE_STARTING_H
#define OMPRMA_PRIVATE_STARTING_H

#include <stdbool.h>

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread is inside of omprma_init(): whoever waits for its end here waits for ever.
 * Thread: any. Blocks: no. */
OMPRMA_API bool omprma_starting(void);

#ifdef __cplusplus
}
#endif
#endif
