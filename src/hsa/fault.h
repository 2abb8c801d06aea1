/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fault.h: telling the program that a GPU is lost, or that a queue has got a packet that cannot be
 * executed. Programs wait for signals that would never come; they end when they are told.
 *
 * Thread: any. Blocks: no: functions of the program are called by the caller (attendant.h).
 */
#ifndef OMPRMA_HSA_FAULT_H
#define OMPRMA_HSA_FAULT_H

#include <stdbool.h>

#include "base/hsa_abi.h"

struct gpu;

/* Lost GPUs are told of from now on. `queues` calls the callbacks of all queues of a GPU, false:
 * there is none; NULL: as before. */
void faults_start(bool (*queues)(struct gpu *gpu, hsa_status_t status));

#endif
