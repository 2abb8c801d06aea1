/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tlsf.c: block records and the two-level segregated fit over the free ones. */
#include "host/memory/tlsf.h"

#include <sys/resource.h>

enum {
    NO_CLASS = TLSF_ROWS * TLSF_SUBS,
    BLOCKS_MOST = 1 << 27, /* 4 GiB of address space per device, of which little is ever used; */
    LIMIT_PART = 256,      /* at most this part of what a process may have (ulimit -v) */
    WALK_STEPS = 32        /* blocks looked at before a nearly full class is given up */
};

/* ---- records ------------------------------------------------------------------------------ */

static size_t address_space(void)
{
    size_t wanted = (size_t)BLOCKS_MOST * sizeof(struct block);
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur / LIMIT_PART >= wanted)
        return wanted;
    return limit.rlim_cur / LIMIT_PART;
}

bool tlsf_open(struct tlsf *tlsf)
{
    *tlsf = (struct tlsf){.records = 1};
    if (!reserve_open(&tlsf->memory, address_space(), false))
        return false;
    tlsf->blocks = tlsf->memory.base;
    return true;
}

void tlsf_close(struct tlsf *tlsf)
{
    reserve_close(&tlsf->memory);
}

bool tlsf_ready(struct tlsf *tlsf, uint32_t count)
{
    if (tlsf->spares >= count)
        return true;
    uint64_t records = (uint64_t)tlsf->records + (count - tlsf->spares);
    size_t bytes = records * sizeof(struct block);
    return bytes <= tlsf->memory.ready || reserve_grow(&tlsf->memory, bytes);
}

uint32_t tlsf_record(struct tlsf *tlsf)
{
    if (tlsf->spares == 0)
        return tlsf->records++;
    uint32_t number = tlsf->spare;
    tlsf->spare = tlsf->blocks[number].next;
    tlsf->spares--;
    return number;
}

void tlsf_unrecord(struct tlsf *tlsf, uint32_t number)
{
    tlsf->blocks[number].state = BLOCK_UNUSED;
    tlsf->blocks[number].next = tlsf->spare;
    tlsf->spare = number;
    tlsf->spares++;
}

/* ---- classes ------------------------------------------------------------------------------ */

static unsigned highest_bit(uint64_t value)
{
    return 63 - (unsigned)__builtin_clzll(value);
}

/* Row 0 has one class per granule; each later row is a power of two in TLSF_SUBS equal parts. */
unsigned tlsf_class(uint64_t granules)
{
    if (granules < TLSF_SUBS)
        return (unsigned)granules;
    unsigned shift = highest_bit(granules) - TLSF_SUB_SHIFT;
    return ((shift + 1) << TLSF_SUB_SHIFT) + (unsigned)(granules >> shift) - TLSF_SUBS;
}

/* The lowest class of which every block has room for `granules`. */
static unsigned class_above(uint64_t granules)
{
    if (granules < TLSF_SUBS)
        return (unsigned)granules;
    unsigned shift = highest_bit(granules) - TLSF_SUB_SHIFT;
    return tlsf_class(granules + (UINT64_C(1) << shift) - 1);
}

/* The first class from `from` on that has a block. */
static unsigned class_filled(const struct tlsf *tlsf, unsigned from)
{
    if (from >= NO_CLASS)
        return NO_CLASS;
    unsigned row = from >> TLSF_SUB_SHIFT;
    uint32_t subs = tlsf->sub_map[row] & (~0u << (from % TLSF_SUBS));
    if (!subs) {
        uint32_t rows = tlsf->row_map & (~0u << (row + 1));
        if (!rows)
            return NO_CLASS;
        row = (unsigned)__builtin_ctz(rows);
        subs = tlsf->sub_map[row];
    }
    return (row << TLSF_SUB_SHIFT) + (unsigned)__builtin_ctz(subs);
}

static uint32_t class_head(const struct tlsf *tlsf, unsigned class)
{
    return class < NO_CLASS ? tlsf->heads[class >> TLSF_SUB_SHIFT][class % TLSF_SUBS] : 0;
}

/* ---- the index ---------------------------------------------------------------------------- */

void tlsf_insert(struct tlsf *tlsf, uint32_t number)
{
    struct block *block = &tlsf->blocks[number];
    unsigned class = tlsf_class(block->granules);
    unsigned row = class >> TLSF_SUB_SHIFT, sub = class % TLSF_SUBS;
    uint32_t head = tlsf->heads[row][sub];
    block->state = BLOCK_FREE;
    block->previous = 0;
    block->next = head;
    if (head)
        tlsf->blocks[head].previous = number;
    tlsf->heads[row][sub] = number;
    tlsf->sub_map[row] |= 1u << sub;
    tlsf->row_map |= 1u << row;
}

void tlsf_remove(struct tlsf *tlsf, uint32_t number)
{
    const struct block *block = &tlsf->blocks[number];
    if (block->next)
        tlsf->blocks[block->next].previous = block->previous;
    if (block->previous) {
        tlsf->blocks[block->previous].next = block->next;
        return;
    }
    unsigned class = tlsf_class(block->granules);
    unsigned row = class >> TLSF_SUB_SHIFT, sub = class % TLSF_SUBS;
    tlsf->heads[row][sub] = block->next;
    if (block->next)
        return;
    tlsf->sub_map[row] &= ~(1u << sub);
    if (!tlsf->sub_map[row])
        tlsf->row_map &= ~(1u << row);
}

static bool has_room(const struct block *block, uint64_t bytes, uint64_t alignment,
                     uint64_t residue)
{
    uint64_t skipped = (residue - block->start) & (alignment - 1);
    return block_size(block) >= bytes + skipped;
}

uint32_t tlsf_find(const struct tlsf *tlsf, uint64_t bytes, uint64_t alignment, uint64_t residue)
{
    uint64_t granules = bytes >> TLSF_GRANULE_SHIFT;
    uint64_t most_granules = granules + (alignment >> TLSF_GRANULE_SHIFT) - 1;
    uint32_t number = class_head(tlsf, class_filled(tlsf, class_above(granules)));
    if (number && has_room(&tlsf->blocks[number], bytes, alignment, residue))
        return number;
    if (number && most_granules > granules) {
        number = class_head(tlsf, class_filled(tlsf, class_above(most_granules)));
        if (number)
            return number;
    }
    /* Only classes in which some blocks have room are left: an exact fit is worth some steps. */
    unsigned last = class_above(most_granules);
    int steps = WALK_STEPS;
    for (unsigned class = class_filled(tlsf, tlsf_class(granules)); class < last;
         class = class_filled(tlsf, class + 1)) {
        for (number = class_head(tlsf, class); number && steps > 0; steps--) {
            if (has_room(&tlsf->blocks[number], bytes, alignment, residue))
                return number;
            number = tlsf->blocks[number].next;
        }
    }
    return 0;
}
