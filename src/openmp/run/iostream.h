/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * iostream.h: whether an address of the program belongs to a stream of C++'s library, which regions
 * cannot use, and what to do instead.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_RUN_IOSTREAM_H
#define OMPRMA_OPENMP_RUN_IOSTREAM_H

#include <stdint.h>

/* The advice, a static text; NULL: it belongs to none. */
const char *iostream_advice(uintptr_t address);

#endif
