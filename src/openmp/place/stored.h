/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stored.h: a region may store the address of one mapped range in another one, as one that links
 * the nodes of a list does. Regions that find it there use a range that they do not name, so
 * nothing would bring it to their site. An address of memory that a region has from malloc(), or of
 * its image or a library, means nothing on other sites. So behind a region its worker looks into
 * the small ranges that it may have written (omprma_private/variables.h), and an address ends
 * placement before the region is over. Attached pointers are known, and are left out.
 *
 * Larger ranges are not looked into, as that would cost more than many a region does.
 */
#ifndef OMPRMA_OPENMP_PLACE_STORED_H
#define OMPRMA_OPENMP_PLACE_STORED_H

#include <stdbool.h>

struct work;

/* Behind all that the work has issued, when all that it uses is pinned. The caller holds the
 * space's lock. Blocks: when a queue is full. False: reported. */
bool stored_search(struct work *work);

/* The region is done: an address that was found ends placement. Without the lock. False: reported.
 */
bool stored_tell(struct work *work);

#endif
