/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * recompute.h: ranges that were lost with sites are computed again where that can be (lineage.h),
 * before anything else is issued, which might write what that takes.
 */
#ifndef OMPRMA_OPENMP_PLACE_RECOMPUTE_H
#define OMPRMA_OPENMP_PLACE_RECOMPUTE_H

#include <stdbool.h>

#include "openmp/device/device.h"

struct location;

/* Sees to sites that are lost by now (losses_settle()). If something can be computed again, has a
 * site that serves the device's space do it, waits for that, and says so. Thread: the caller holds
 * the space's lock, which is given up meanwhile. Blocks: yes. False: reported. */
bool recompute_lost(struct device *device, const struct location *where);

/* Regions are noted from now on (struct space). Thread: the caller holds the lock. Blocks: no. */
void recompute_offer(struct space *space);

#endif
