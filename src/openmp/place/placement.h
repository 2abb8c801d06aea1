/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * placement.h: with OMPRMA_PLACEMENT=auto the program sees one device, which all workers serve, and
 * each construct is given to one of them when it may begin: the one on which it will be done first,
 * as far as is known of kernels and of data that has to be brought. What it may touch is brought
 * there (copies.h).
 *
 * A region's maps say what it touches. It may write all that it does not say that it only reads, as
 * it may write what it maps `to`: by a dependence `in` on what it maps, or, with "named", by
 * map(to:). What holds for device addresses that the program has in its hands, addressed.h says,
 * and for variables of its own on devices (declare target) variables.h.
 */
#ifndef OMPRMA_OPENMP_PLACE_PLACEMENT_H
#define OMPRMA_OPENMP_PLACE_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "openmp/device/device.h"
#include "openmp/map/maps.h"
#include "openmp/place/end.h"

/* What is to be placed. */
struct placed {
    enum construct_kind kind;
    const struct maps *maps;
    const void *host_id; /* of a region */
    /* Does it depend on an address in [begin, end), by `in` or in another way? See task_names(). */
    bool (*depends)(uintptr_t begin, uintptr_t end, bool by_in);
};

/* The device whose site is to do it. The caller holds the lock of the device's space. Where nothing
 * is placed it is the device itself. Blocks: no. */
struct device *placement_choose(struct device *device, const struct placed *placed);

/* Before the construct's maps are entered: brings what it may touch to the work's site. The caller
 * holds the lock. Blocks: when a queue is full. False: reported. */
bool placement_bring(struct work *work, const struct placed *placed);

/* After its maps were entered: pins what it may touch, see copies_pin(), and notes a region for
 * when what it writes is lost (lineage.h). The caller holds the lock. Blocks: no. False: reported.
 */
bool placement_pin(struct work *work, const struct placed *placed);

#endif
