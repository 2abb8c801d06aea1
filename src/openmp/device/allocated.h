/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * allocated.h: what a space knows of device memory by its device address: blocks of
 * omp_target_alloc, in a table of their own, and mapped ranges. Only where several sites serve the
 * space and its regions name what they use (place/addressed.h): each block has copies, as a mapped
 * range has.
 *
 * Thread: the caller holds the space's lock. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_DEVICE_ALLOCATED_H
#define OMPRMA_OPENMP_DEVICE_ALLOCATED_H

#include <stdbool.h>
#include <stddef.h>

#include "openmp/device/device.h"

void allocated_begin(struct space *space);

/* A new one, whose contents are the same on all sites: nothing yet. False: no memory. */
bool allocated_add(struct space *space, omprma_addr_t begin, size_t bytes);

/* The program frees it. Works under way that have pinned it go on, and know nothing of it any more.
 * Another address is nobody's block, and nothing is done. */
void allocated_remove(struct space *space, omprma_addr_t begin);

/* The block that has this byte; NULL: none. */
struct mapped *allocated_at(struct space *space, omprma_addr_t address);

/* The same, or the mapped range whose device memory has it. */
struct mapped *range_of_address(struct space *space, omprma_addr_t address);

#endif
