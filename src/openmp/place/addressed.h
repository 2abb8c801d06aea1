/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * addressed.h: device addresses in the program's hands, with placement. What a region does with one
 * is not known, nor what it finds where that leads. So with OMPRMA_PLACEMENT=auto the first address
 * that the program asks for ends placement. With "named" the program promises that a region has an
 * address of each block and range that it uses without a map: as a value, in a private variable, or
 * in a small structure that it maps; and then it is only as if it had mapped that, and might write
 * it.
 *
 * Thread: the caller holds the space's lock. Blocks: where it says so.
 */
#ifndef OMPRMA_OPENMP_PLACE_ADDRESSED_H
#define OMPRMA_OPENMP_PLACE_ADDRESSED_H

#include <stdbool.h>

#include "openmp/map/maps.h"

/* Calls for each range and block that a region with this list of maps has an address of, as often
 * as that comes, until `call` returns false. */
bool addresses_each(struct space *space, const struct maps *maps,
                    bool (*call)(void *context, struct mapped *range), void *context);

/* What a copy to or from device memory touches there; 0: nothing. */
struct ends {
    omprma_addr_t to, from;
};

/* The device whose site has what is read, or is to have what is written: this one, if neither is
 * known. */
struct device *ends_choose(struct device *device, const struct ends *ends);

/* Brings what is needed there to the work's site, and pins it. Blocks: when a queue is full. False:
 * reported. */
bool ends_bring(struct work *work, const struct ends *ends);

#endif
