/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * promised.h: that a region only reads what it depends on by `in` is the program's word, and where
 * it writes that nevertheless, its own site alone has what it wrote. With OMPRMA_CHECK=full the
 * worker sums up such memory in front of the region and behind it, and a finding says what has
 * changed. What mappers name is left out.
 *
 * Thread: the caller holds the space's lock, unless said otherwise. Blocks: when a queue is full.
 * False: reported.
 */
#ifndef OMPRMA_OPENMP_PLACE_PROMISED_H
#define OMPRMA_OPENMP_PLACE_PROMISED_H

#include <stdbool.h>
#include <stddef.h>

struct mapped;
struct work;

/* In front of the region: this part of a range, whose beginning is here on the host, only is read.
 * `name` is the map's. */
bool promised_add(struct work *work, const struct mapped *mapped, const void *begin, size_t bytes,
                  const char *name);

/* All have been added: they are summed up before the region begins. */
bool promised_sum(struct work *work);

/* Behind all that the region has issued. */
bool promised_sum_again(struct work *work);

/* The region is done: tells of what has changed. Without the lock. */
void promised_tell(struct work *work);

#endif
