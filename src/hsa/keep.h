/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * keep.h: addresses of this process that variables of a GPU's code have, too. Nothing else of the
 * process, and no memory of another GPU, comes there as long as they are kept. Knows nothing of
 * GPUs.
 *
 * Thread: one at a time for each list. Blocks: no.
 */
#ifndef OMPRMA_HSA_KEEP_H
#define OMPRMA_HSA_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whole pages; all zero: none. */
struct keep {
    struct keep_range {
        uintptr_t begin, end;
    } * ranges;
    size_t count;
};

/* Adds the pages of a range. False: something else of this process is there. Where there is no
 * memory for it, they are not kept. */
bool keep_add(struct keep *keep, uint64_t address, size_t bytes);

/* Lets go of all. */
void keep_clear(struct keep *keep);

#endif
