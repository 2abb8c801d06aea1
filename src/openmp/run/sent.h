/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sent.h: what a region's work has sent to its device, kept where the region may have to be done
 * again (place/own.h): its submits in their order, with their bytes, of a few KiB in all. Its
 * memory is the work's, and kept for the next one.
 *
 * Thread: the work's. Blocks: no. Errors: where there is no memory for it, it is not all there.
 */
#ifndef OMPRMA_OPENMP_RUN_SENT_H
#define OMPRMA_OPENMP_RUN_SENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

enum { SENT_BYTES = 4096 }; /* the longest list */

struct sent_piece {
    omprma_addr_t to;
    size_t bytes;
    unsigned char content[]; /* then bytes up to the next word */
};

struct sent {
    unsigned char *list; /* of pieces, of SENT_BYTES */
    size_t bytes;        /* of it that are used */
    bool wanted;
    bool more; /* than is there */
};

static inline void sent_begin(struct sent *sent, bool wanted)
{
    sent->bytes = 0;
    sent->wanted = wanted;
    sent->more = false;
}

/* `from` NULL: it cannot be told as one piece. */
void sent_add_wanted(struct sent *sent, omprma_addr_t to, const void *from, size_t bytes);

static inline void sent_add(struct sent *sent, omprma_addr_t to, const void *from, size_t bytes)
{
    if (__builtin_expect(sent->wanted, 0))
        sent_add_wanted(sent, to, from, bytes);
}

/* The piece behind this one in a list of so many bytes, or the first (NULL); NULL: there is none.
 */
const struct sent_piece *sent_next(const unsigned char *list, size_t bytes,
                                   const struct sent_piece *piece);

#endif
