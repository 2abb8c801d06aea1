/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * own.c: parts lie in the new block behind each other, each aligned as it was. A word stands for
 * something that begins in a part, while it may itself lie outside of it, as that of an array's
 * section does. In what was sent any word may be a pointer: no data looks like an address of memory
 * that only the device has.
 */
#include "openmp/place/own.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_MOST = 1 << 20, PAGE_BYTES = 4096 };

/* ---- noting --------------------------------------------------------------------------------- */

static void part_add(struct own *own, omprma_addr_t at, size_t bytes)
{
    size_t alignment = bytes >= PAGE_BYTES ? PAGE_BYTES : SUBALLOC_ALIGNMENT;
    size_t offset = own->bytes + (at - own->bytes) % alignment;
    own->parts[own->part_count++] = (struct own_part){at, bytes, offset};
    own->bytes = offset + bytes;
}

static const struct own_part *part_of(const struct own *own, omprma_addr_t address)
{
    for (size_t i = 0; i < own->part_count; i++)
        if (address - own->parts[i].at < own->parts[i].bytes)
            return &own->parts[i];
    return NULL;
}

static bool sent_lies_in(const struct own *own, const struct sent *sent)
{
    const struct sent_piece *piece = NULL;
    while ((piece = sent_next(sent->list, sent->bytes, piece))) {
        const struct own_part *part = part_of(own, piece->to);
        if (!part || piece->bytes > part->bytes - (piece->to - part->at))
            return false;
    }
    return true;
}

static bool has_made(const struct work *work, const struct mapped *mapped)
{
    return mapped->made_by == work->number;
}

static size_t parts_count(const struct work *work)
{
    size_t count = work->private_bytes > 0;
    for (const struct pinned *each = work->pinned; each; each = each->next)
        count += has_made(work, each->mapped);
    return count;
}

/* A range may be pinned more than once. */
static void parts_add(struct own *own, const struct work *work)
{
    if (work->private_bytes > 0)
        part_add(own, work->privates.device, work->private_bytes);
    for (const struct pinned *each = work->pinned; each; each = each->next)
        if (has_made(work, each->mapped) && !part_of(own, each->mapped->device))
            part_add(own, each->mapped->device, each->mapped->end - each->mapped->begin);
}

static struct own *own_make(const struct work *work, size_t parts)
{
    size_t words = work->launched->count, part_bytes = parts * sizeof(struct own_part);
    size_t begin_bytes = words * sizeof(omprma_addr_t);
    struct own *own = malloc(sizeof(*own) + part_bytes + begin_bytes + work->sent.bytes);
    if (!own)
        return NULL;
    *own = (struct own){.word_count = words, .sent_bytes = work->sent.bytes};
    own->begins = (omprma_addr_t *)((char *)(own + 1) + part_bytes);
    own->sent = (unsigned char *)own->begins + begin_bytes;
    parts_add(own, work);
    if (begin_bytes > 0)
        memcpy(own->begins, work->begins, begin_bytes);
    if (own->sent_bytes > 0)
        memcpy(own->sent, work->sent.list, own->sent_bytes);
    return own;
}

/* What was there before the region has its values by others, and by what the region computes. */
static bool is_given_only_own(const struct work *work)
{
    for (const struct pinned *each = work->pinned; each; each = each->next)
        if (has_made(work, each->mapped) ? each->mapped->used_by == work->number : each->sent)
            return false;
    return true;
}

bool own_note(const struct work *work, struct own **own)
{
    size_t parts = parts_count(work);
    *own = NULL;
    if (work->sent.more || !is_given_only_own(work))
        return false;
    if (parts == 0)
        return work->sent.bytes == 0;
    if (!work->begins)
        return false;
    *own = own_make(work, parts);
    if (*own && (*own)->bytes <= BYTES_MOST && sent_lies_in(*own, &work->sent))
        return true;
    free(*own);
    *own = NULL;
    return false;
}

/* ---- giving it again ------------------------------------------------------------------------ */

omprma_addr_t own_address(const struct own *own, omprma_addr_t block, omprma_addr_t address)
{
    const struct own_part *part = part_of(own, address);
    return part ? block + part->offset + (address - part->at) : address;
}

void own_words(const struct own *own, omprma_addr_t block, uint64_t *words)
{
    for (size_t i = 0; i < own->word_count; i++)
        words[i] += own_address(own, block, own->begins[i]) - own->begins[i];
}

void own_content(const struct own *own, omprma_addr_t block, const struct sent_piece *piece,
                 unsigned char *content)
{
    omprma_addr_t word;
    memcpy(content, piece->content, piece->bytes);
    for (size_t at = 0; at + sizeof(word) <= piece->bytes; at += sizeof(word)) {
        memcpy(&word, content + at, sizeof(word));
        word = own_address(own, block, word);
        memcpy(content + at, &word, sizeof(word));
    }
}
