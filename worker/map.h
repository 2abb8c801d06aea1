/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * map.h: memory of the worker that will be attached to the window. Its addresses are those of no
 * other worker of the program, nor of the program, so that an address tells whose memory it is.
 *
 * Thread: one at a time.
 */
#ifndef OMPRMA_WORKER_MAP_H
#define OMPRMA_WORKER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This process is worker `index` of `count`: what is mapped from now on lies in a span of addresses
 * of its own. Where that is used up, it lies anywhere, and a line says so. */
void map_keep_apart(int index, int count);

/* Maps whole pages, for reading and writing, that end at `below` or lower; NULL: anywhere.
 * MAP_FAILED with errno set: there is no memory, or no addresses. The caller unmaps it. */
void *map_below(size_t length, const void *below);

/* The same at `wish`, of huge pages if that is said. MAP_FAILED with EEXIST: not there. */
void *map_wished(size_t length, void *wish, const void *below, bool huge);

/* Nothing that is mapped later, by whomever, gets these addresses, as far as they are free now.
 * Takes address space until the end of the process, and no memory. */
void map_nothing(uintptr_t begin, size_t length);

/* As map_below(), from the beginning of a huge page on, and of huge pages where the system has
 * them. */
void *map_huge(size_t length, const void *below);

#endif
