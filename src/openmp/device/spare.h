/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * spare.h: what a construct loses with its site, see loss.h: it is spared, which means that the
 * host computes its region, unless it reads a range whose values are lost.
 *
 * Thread: any that holds the lock of the table. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_DEVICE_SPARE_H
#define OMPRMA_OPENMP_DEVICE_SPARE_H

#include <stdbool.h>

struct location;
struct mapped;
struct mapping;
struct pinned;
struct site;

/* What a construct needs, which has all of `pinned`. */
struct needs {
    const struct location *where;
    const struct pinned *pinned;
    bool computes; /* it is a region */
};

/* The end of a construct whose site is lost: does the host have the values that it needs? False:
 * reported. */
bool spare(struct site *site, const struct mapping *mapping, const struct needs *needs);

/* Says that a construct needs the values of a range, and that they are lost. Always false. `site`
 * may be NULL. */
bool spare_refused(const struct location *where, const struct site *site,
                   const struct mapped *mapped);

#endif
