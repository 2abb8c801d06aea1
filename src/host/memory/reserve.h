/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reserve.h: an array that may become huge and never moves. Address space is set aside at once,
 * memory becomes usable from the front as it is needed, and pages cost nothing until they are
 * written. A machine without memory (or with strict overcommit) says so when the array grows, not
 * by a crash later. Knows nothing of what is stored.
 */
#ifndef OMPRMA_HOST_MEMORY_RESERVE_H
#define OMPRMA_HOST_MEMORY_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

struct reserve {
    void *base;
    size_t bytes; /* address space */
    size_t ready; /* usable from the front; zero until written */
};

/* False when the address space cannot be had. `sparse`: few of its pages will be written, so that
 * huge pages would waste memory. */
bool reserve_open(struct reserve *reserve, size_t bytes, bool sparse);
void reserve_close(struct reserve *reserve);

/* Makes the first `bytes` usable; false, and nothing changed, when the host has no memory. */
bool reserve_grow(struct reserve *reserve, size_t bytes);

#endif
