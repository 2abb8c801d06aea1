/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * place.h: where a stand-in has memory of its GPUs: where Linux puts it or, with STANDIN_PLACE, in
 * a span from that address (hexadecimal) on, which it reserves at its first memory, as drivers do
 * that hand out addresses by themselves: then each process hands out the same ones, the lowest that
 * are free.
 */
#ifndef OMPRMA_TESTS_STANDIN_PLACE_H
#define OMPRMA_TESTS_STANDIN_PLACE_H

#include <stddef.h>

/* mmap() of anonymous memory with these flags beside MAP_ANONYMOUS. */
void *standin_map(size_t bytes, int protection, int flags);

/* All of such memory. */
void standin_unmap(void *memory, size_t bytes);

#endif
