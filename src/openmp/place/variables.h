/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * variables.h: where several workers serve a space, variables of images (declare target, and static
 * ones of functions) are the same on all, though each worker has its own, at other addresses. Which
 * kernel uses which nobody knows, so behind each construct its worker looks what was written
 * (omprma_private/variables.h), and the end of the construct says so. From then on other sites lack
 * that, and get it before the next construct that goes there. What has an order has it by the end
 * of the first: tasks begin when those that they depend on are over.
 *
 * An address of an image becomes that of the same place on another site. One of device memory leads
 * regions to what they do not name, and one of a worker's own memory means nothing elsewhere: they
 * end placement.
 *
 * Thread: see the functions. Errors: false means that it was reported.
 */
#ifndef OMPRMA_OPENMP_PLACE_VARIABLES_H
#define OMPRMA_OPENMP_PLACE_VARIABLES_H

#include <stdbool.h>

#include "openmp/map/maps.h"
#include "openmp/run/work.h"

/* Images that are new on all sites are watched from now on. Where that cannot be, *why says so in
 * words, and is NULL else. Thread: any. Blocks: yes. */
bool variables_prepare(const char **why);

/* Does a pointer of the list that is no variable lead to one? Takes the space's lock. */
bool variables_are_pointed_to(struct space *space, const struct maps *maps);

/* The program asks for the device address of `address`, by `how`: placement_give(), and that of a
 * variable ends placement in any case. Takes the space's lock. Blocks: as placement_end(). */
bool variables_give(struct space *space, const void *address, const char *how);

/* Before the construct's maps are entered: the work's site has all that was written, the table says
 * where its variables are, and what attached pointers in them lead to is used by a region. The
 * caller holds the space's lock. Blocks: when a queue is full. */
bool variables_bring(struct work *work, bool region);

/* Behind all that the construct has issued: has the site look what was written, and what it finds
 * be known when the work is over. The caller holds the lock. Blocks: when a queue is full. */
bool variables_note(struct work *work);

/* Now, for variables_may_repeat(). Thread: any. Takes the space's lock. Blocks: no. */
uint64_t variables_time(struct space *space);

/* May a region be done again whose site was lost? `since`: variables_time() before it began. False:
 * it may have written a part of its words of variables already, which is reported. Thread: any.
 * Takes the space's lock. Blocks: no. */
bool variables_may_repeat(uint64_t since, const struct location *where);

/* The table says where they are on this site. The caller holds the lock. Blocks: no. */
void variables_turn_to(const struct site *site);

#endif
