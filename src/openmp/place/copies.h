/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copies.h: several workers serve a space (placement.h), and each has memory of its own for a
 * mapped range, at the same address. Which of them have its present value is a mask in the table,
 * as of all that has been issued. A construct has what it may touch brought to its site, from
 * worker to worker, and behind whoever may still write it; where it may write itself, its site is
 * the only one with the present value from then on.
 *
 * Who is in flight and uses a range has pinned it. A work that may write a range waits for no
 * reader of it: that has its own copy, or is ordered by the program.
 *
 * What lost sites alone had is lost (device/remains.h). If the program's memory has it, a use gives
 * it from there; else a use is an error.
 *
 * Thread: the caller holds the space's lock. Blocks: when a queue is full. Errors: false means that
 * it was reported.
 */
#ifndef OMPRMA_OPENMP_PLACE_COPIES_H
#define OMPRMA_OPENMP_PLACE_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "openmp/device/remains.h"
#include "openmp/run/work.h"

/* The work uses the range; its site has the present value before anything that is issued from now
 * on. */
bool copies_use(struct work *work, struct mapped *mapped, bool writes);

/* The work gives all of it: what was lost of it is not missed. */
bool copies_give(struct work *work, struct mapped *mapped);

/* The work's site is the only one that has the range, which the work computes again: from what the
 * program's memory has (`home`), or from nothing. No work under way uses it, but for such as are on
 * lost sites. */
bool copies_remake(struct work *work, struct mapped *mapped, bool home);

/* copies_use(), for writing, of what attached pointers in its ranges lead to. A pointer that was
 * mapped is all that tells: what else a region finds through memory is not known. */
bool copies_use_pointees(struct work *work);

/* All ranges that somebody has mapped, and all blocks. */
bool copies_use_all(struct work *work, bool writes);

/* Pins what the work uses, when its maps have been entered; ranges that it has made are its site's
 * alone. */
bool copies_pin(struct work *work);

#endif
