/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * own.h: device memory that a region had for itself, which is gone when it is over: its private
 * variables, and what it has mapped itself. To do the region again it gets other memory, with what
 * it was sent then; words and pointers that lead there are moved. What came home then need not come
 * again.
 *
 * Thread: the caller holds the space's lock. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_PLACE_OWN_H
#define OMPRMA_OPENMP_PLACE_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

#include "openmp/run/work.h"

struct own {
    size_t bytes; /* of a block that holds all of it */
    size_t part_count, word_count, sent_bytes;
    omprma_addr_t *begins; /* by word, of what it stands for */
    unsigned char *sent;   /* pieces, see run/sent.h */
    struct own_part {
        omprma_addr_t at; /* then */
        size_t bytes, offset;
    } parts[];
};

/* Of a region that the work has issued. *own: NULL if it had none. False: it cannot be given again,
 * as too much was sent, or to elsewhere as well. */
bool own_note(const struct work *work, struct own **own);

/* Where this is when the region's own memory is in a block at `block`: moved, or else the same. */
omprma_addr_t own_address(const struct own *own, omprma_addr_t block, omprma_addr_t address);

/* The region's words then. */
void own_words(const struct own *own, omprma_addr_t block, uint64_t *words);

/* What was sent as one piece, as it has to be then: `content` has room for it. */
void own_content(const struct own *own, omprma_addr_t block, const struct sent_piece *piece,
                 unsigned char *content);

#endif
