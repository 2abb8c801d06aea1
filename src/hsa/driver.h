/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * driver.h: start and end, and what every function of the runtime begins and ends with.
 *
 * hsa_init() and hsa_shut_down() count. The first hsa_init() starts omprma; the last
 * hsa_shut_down() ends nothing, since programs begin again. The end: omprma ends when this
 * library's destructor runs, after those of the program and of libraries that were loaded before.
 * Functions return HSA_STATUS_ERROR_NOT_INITIALIZED then, as before the first hsa_init().
 *
 * hsa_init() never fails for a program: those of gcc end where it does, even without target
 * regions. Without GPUs, in a child that was forked after the start, and where omprma cannot start,
 * there is no GPU agent. A library that MPI opens while omprma starts (UCX's module for ROCm) is
 * told what AMD's runtime says where there is no GPU, and leaves memory of GPUs alone.
 */
#ifndef OMPRMA_HSA_DRIVER_H
#define OMPRMA_HSA_DRIVER_H

#include <stdbool.h>

#include "base/hsa_abi.h"

/* A call of the program, between api_begin() and api_end(). */
struct call {
    bool inside;
};

/* For all functions but those that only read or write memory of the program (values of signals,
 * indices of queues, words for a status). Errors: NOT_INITIALIZED. Thread: any, also inside of the
 * program's handlers. Blocks: no. */
hsa_status_t api_begin(struct call *call);

/* Returns `status`. Always to be called after api_begin(). */
hsa_status_t api_end(struct call *call, hsa_status_t status);

#endif
