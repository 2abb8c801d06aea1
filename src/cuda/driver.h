/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * driver.h: start and end, and what every function of the driver begins and ends with.
 *
 * The end: omprma ends when this library's destructor runs, after those of the program and of
 * libraries that were loaded before (libomptarget and its plugins, libgomp's). Later calls return
 * CUDA_ERROR_DEINITIALIZED, as the driver's do then.
 */
#ifndef OMPRMA_CUDA_DRIVER_H
#define OMPRMA_CUDA_DRIVER_H

#include <stdbool.h>

#include "cuda/abi.h"

/* A call of the program, between api_begin*() and api_end(). */
struct call {
    bool inside;
    struct context *context; /* the thread's current one; NULL after api_begin_bare() */
};

/* For functions that need a context: it is current and not lost. Errors: NOT_INITIALIZED,
 * DEINITIALIZED, INVALID_CONTEXT, NOT_PERMITTED (inside a host function), the GPU's sticky one.
 * Thread: any. Blocks: no. */
CUresult api_begin(struct call *call);

/* For functions that are given a stream: the context is the stream's, and none needs to be current;
 * LLVM's runtime calls them so. */
CUresult api_begin_stream(struct call *call, CUstream stream);

/* For functions that need none. */
CUresult api_begin_bare(struct call *call);

/* For functions that need an initialised driver and also work on what is lost. */
CUresult api_begin_lost(struct call *call);

/* Returns `result`. Always to be called after api_begin*(). */
CUresult api_end(struct call *call, CUresult result);

/* Starts omprma at the first call. Blocks: yes. Errors: NO_DEVICE, SYSTEM_NOT_READY,
 * DEINITIALIZED. */
CUresult driver_start(void);

#endif
