/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sent.c: pieces stand behind each other, each with its content. */
#include "openmp/run/sent.h"

#include <stdlib.h>
#include <string.h>

static size_t piece_bytes(size_t content)
{
    return sizeof(struct sent_piece) + (content + 7) / 8 * 8;
}

void sent_add_wanted(struct sent *sent, omprma_addr_t to, const void *from, size_t bytes)
{
    if (!sent->list)
        sent->list = malloc(SENT_BYTES);
    sent->more |=
        !sent->list || !from || bytes > SENT_BYTES || piece_bytes(bytes) > SENT_BYTES - sent->bytes;
    if (sent->more)
        return;
    struct sent_piece *piece = (struct sent_piece *)(sent->list + sent->bytes);
    *piece = (struct sent_piece){.to = to, .bytes = bytes};
    memcpy(piece->content, from, bytes);
    sent->bytes += piece_bytes(bytes);
}

const struct sent_piece *sent_next(const unsigned char *list, size_t bytes,
                                   const struct sent_piece *piece)
{
    const unsigned char *next =
        piece ? (const unsigned char *)piece + piece_bytes(piece->bytes) : list;
    return next && next < list + bytes ? (const struct sent_piece *)next : NULL;
}
