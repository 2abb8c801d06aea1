/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stand_in.h: code at the addresses that functions have in the program, so that regions may call
 * through pointers that the program made (`declare target indirect`). Knows nothing of images.
 *
 * Thread: any; one internal lock. Blocks: no.
 */
#ifndef OMPRMA_WORKER_STAND_IN_H
#define OMPRMA_WORKER_STAND_IN_H

#include <stdint.h>

/* The kernel OMPRMA_SYMBOL_STAND_IN of omprma.h. */
void stand_in_place(uint64_t result, uint64_t address, uint64_t function);

#endif
