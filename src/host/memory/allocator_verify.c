/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* allocator_verify.c: walks all structures of an allocator and compares them; for tests. */
#include "host/memory/allocator.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "host/memory/allocator_arenas.h"

/* What the walk has seen. */
struct tally {
    uint64_t live, free, used_bytes;
    char *why;
    size_t why_bytes;
};

static bool __attribute__((format(printf, 2, 3)))
wrong(const struct tally *tally, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tally->why, tally->why_bytes, format, arguments);
    va_end(arguments);
    return false;
}

static bool verify_live(const struct arena *arena, const struct block *block, uint32_t number,
                        const struct tally *tally)
{
    uint64_t unit = block_asked(block) >= ALLOCATOR_LARGE ? ALLOCATOR_PAGE : ALLOCATOR_GRANULE;
    if (block->start % ALLOCATOR_GRANULE || (block->start + block_size(block)) % unit ||
        block->padding >= unit)
        return wrong(tally, "live block %" PRIu32 " is not aligned", number);
    uint64_t first = arena_granule(arena, block->start);
    uint64_t last = arena_granule(arena, block->start + block_size(block) - 1);
    if (granules_get(&arena->granules, first) != number)
        return wrong(tally, "the table does not know live block %" PRIu32, number);
    if (granules_find(&arena->granules, first) != number ||
        granules_find(&arena->granules, last) != number)
        return wrong(tally, "the bitmap does not find live block %" PRIu32, number);
    return true;
}

static bool verify_arena(const struct allocator *allocator, unsigned slot, struct tally *tally)
{
    const struct arena *arena = &allocator->arenas[slot];
    omprma_addr_t place = arena->base;
    uint64_t live = 0;
    uint32_t before = 0;
    bool before_free = false;
    for (uint32_t number = arena->first; number; number = allocator->tlsf.blocks[number].after) {
        const struct block *block = &allocator->tlsf.blocks[number];
        if (block->start != place || block_size(block) == 0 || block->before != before ||
            block->arena != slot || block->state == BLOCK_UNUSED)
            return wrong(tally, "block %" PRIu32 " does not follow its neighbour", number);
        bool is_free = block->state == BLOCK_FREE;
        if (is_free && before_free)
            return wrong(tally, "blocks %" PRIu32 " and %" PRIu32 " are not merged", before,
                         number);
        if (!is_free && !verify_live(arena, block, number, tally))
            return false;
        live += !is_free;
        tally->free += is_free;
        tally->used_bytes += is_free ? 0 : block_size(block);
        place += block_size(block);
        before = number;
        before_free = is_free;
    }
    if (place != arena->base + arena->bytes)
        return wrong(tally, "the blocks of arena %#" PRIx64 " do not fill it", arena->base);
    if (live != arena->live || live != granules_total(&arena->granules))
        return wrong(tally, "arena %#" PRIx64 " has %" PRIu64 " live blocks, not %" PRIu64,
                     arena->base, live, arena->live);
    tally->live += live;
    return true;
}

static bool verify_class(const struct tlsf *tlsf, unsigned class, uint64_t *free,
                         const struct tally *tally)
{
    unsigned row = class / TLSF_SUBS, sub = class % TLSF_SUBS;
    uint32_t head = tlsf->heads[row][sub], previous = 0;
    bool marked = tlsf->sub_map[row] >> sub & 1;
    if (marked != (head != 0) || (marked && !(tlsf->row_map >> row & 1)))
        return wrong(tally, "the maps are wrong about class %u", class);
    for (uint32_t number = head; number; number = tlsf->blocks[number].next) {
        const struct block *block = &tlsf->blocks[number];
        if (block->state != BLOCK_FREE || tlsf_class(block->granules) != class ||
            block->previous != previous)
            return wrong(tally, "block %" PRIu32 " does not belong to class %u", number, class);
        previous = number;
        ++*free;
    }
    return true;
}

static bool verify_index(const struct tlsf *tlsf, const struct tally *tally)
{
    uint64_t free = 0, spares = 0;
    for (unsigned class = 0; class < TLSF_ROWS * TLSF_SUBS; class ++) {
        if (!verify_class(tlsf, class, &free, tally))
            return false;
    }
    for (unsigned row = 0; row < TLSF_ROWS; row++) {
        if ((tlsf->row_map >> row & 1) != (tlsf->sub_map[row] != 0))
            return wrong(tally, "the map of rows is wrong about row %u", row);
    }
    if (free != tally->free)
        return wrong(tally, "%" PRIu64 " free blocks in the index, %" PRIu64 " in the arenas", free,
                     tally->free);
    for (uint32_t number = tlsf->spare; number && spares <= tlsf->spares;
         number = tlsf->blocks[number].next)
        spares++;
    if (spares != tlsf->spares)
        return wrong(tally, "%" PRIu64 " spare records, not %" PRIu32, spares, tlsf->spares);
    if (1 + free + tally->live + spares != tlsf->records)
        return wrong(tally,
                     "a record is lost: %" PRIu64 " free, %" PRIu64 " live, %" PRIu64
                     " spare of %" PRIu32,
                     free, tally->live, spares, tlsf->records - 1);
    return true;
}

bool allocator_verify(const struct allocator *allocator, char *why, size_t why_bytes)
{
    struct tally tally = {.why = why, .why_bytes = why_bytes};
    uint64_t arena_bytes = 0;
    unsigned empty = 0;
    for (unsigned i = 0; i < allocator->count; i++) {
        const struct arena *arena = &allocator->arenas[allocator->order[i]];
        if (allocator->bases[i] != arena->base || (i > 0 && allocator->bases[i - 1] >= arena->base))
            return wrong(&tally, "arena %u is not in order", i);
        if (!verify_arena(allocator, allocator->order[i], &tally))
            return false;
        arena_bytes += arena->bytes;
        empty += arena->live == 0;
    }
    const struct allocator_usage *usage = &allocator->usage;
    if (usage->arenas != allocator->count || usage->arena_bytes != arena_bytes ||
        usage->blocks != tally.live || usage->used_bytes != tally.used_bytes ||
        usage->peak_bytes < usage->used_bytes || allocator->empty != empty)
        return wrong(&tally, "the usage figures are wrong");
    return verify_index(&allocator->tlsf, &tally);
}
