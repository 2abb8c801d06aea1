/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * end.h: the end of placement (placement.h): where it cannot be known what regions use, one site
 * does everything from then on, and a line says why.
 *
 * Thread: any. Errors: false means that it was reported.
 */
#ifndef OMPRMA_OPENMP_PLACE_END_H
#define OMPRMA_OPENMP_PLACE_END_H

#include <stdbool.h>

struct device;

/* Are constructs placed, and has that not ended? Blocks: no. */
bool placement_is_on(void);

/* The device that does everything when it has ended. Blocks: no. */
struct device *placement_last(void);

/* From now on the first worker does everything, and gets all that is mapped. A note says `why`,
 * once. Takes the lock. Blocks: until all is there. */
bool placement_end(const char *why);

/* The same for another site, which alone can go on. False also if it has ended at another one. */
bool placement_end_at(int site, const char *why);

/* The program asks for a device address, by `how`: the same, unless its regions name what they use.
 */
bool placement_give(const char *how);

#endif
