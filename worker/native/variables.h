/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * variables.h: which words of images' variables were written, for a program that runs regions on
 * several workers and has them the same on all. Knows nothing of images.
 *
 * Thread: any; one internal lock. Blocks: no.
 */
#ifndef OMPRMA_WORKER_VARIABLES_H
#define OMPRMA_WORKER_VARIABLES_H

#include <stdint.h>

/* The kernel OMPRMA_SYMBOL_VARIABLES of omprma_private/variables.h. */
void variables_serve(uint64_t demand, uint64_t at, uint64_t words, uint64_t more);

#endif
