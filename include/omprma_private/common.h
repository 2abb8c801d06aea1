/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * common.h: several devices have one memory: a block has the same address on each of them, and its
 * contents are each device's own; and what it takes to bring these from one to another. It belongs
 * to libomprma.so of the same version and is not installed.
 */
#ifndef OMPRMA_PRIVATE_COMMON_H
#define OMPRMA_PRIVATE_COMMON_H

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Devices that run on processors get one memory from now on: what omprma_alloc() returns for one of
 * them may be used on all, holds what that device was sent, and is freed once, by omprma_free() of
 * any of them. `devices`: `count` numbers, each once; nothing of theirs is allocated. Once in a
 * program. Thread: any. Blocks: yes. Errors: ARGUMENT (a GPU, or a second time); DEVICE_MEMORY, no
 * addresses are free on all of them; HOST_MEMORY; DEVICE_LOST; CLOSED. */
OMPRMA_API omprma_status_t omprma_memory_join(const int *devices, int count);

/* What start-up has measured; microseconds, 0: not measured. */
typedef struct {
    double round_trip_us; /* a message to the device that sends, and its answer */
    double us_per_mib;    /* from it to the other device */
} omprma_exchange_cost_t;

/* What an exchange between two devices takes. Thread: any. Blocks: no. Errors: ARGUMENT, CLOSED. */
OMPRMA_API omprma_status_t omprma_exchange_cost(int from, int to, omprma_exchange_cost_t *cost);

/* Is the device lost: its worker, the connection to that, or, by a kernel that crashed, it alone?
 * Thread: any. Blocks: no. False also for a number that is no device's. */
OMPRMA_API bool omprma_device_is_lost(int device);

#ifdef __cplusplus
}
#endif
#endif
