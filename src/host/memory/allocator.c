/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * allocator.c: arenas divided into blocks, without touching them. Every block, live or free, has a
 * record; free ones are indexed by size (tlsf.c), live ones by where they begin (granules.c).
 * Neighbouring free blocks of an arena are always one. Knows nothing of MPI or devices.
 */
#include "host/memory/allocator.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "host/memory/allocator_arenas.h"

_Static_assert(ALLOCATOR_GRANULE == 1 << TLSF_GRANULE_SHIFT, "granule");
_Static_assert(sizeof(struct block) == 32, "two records in a cache line");

/* ---- arenas ------------------------------------------------------------------------------- */

struct allocator *allocator_create(void)
{
    struct allocator *allocator = calloc(1, sizeof(*allocator));
    if (!allocator)
        return NULL;
    if (!tlsf_open(&allocator->tlsf)) {
        free(allocator);
        return NULL;
    }
    return allocator;
}

void allocator_destroy(struct allocator *allocator)
{
    if (!allocator)
        return;
    for (unsigned i = 0; i < allocator->count; i++)
        granules_close(&allocator->arenas[allocator->order[i]].granules);
    tlsf_close(&allocator->tlsf);
    free(allocator);
}

/* Number of arenas that begin at or below `address`. */
static unsigned arenas_up_to(const struct allocator *allocator, omprma_addr_t address)
{
    unsigned low = 0, high = allocator->count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (allocator->bases[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static unsigned find_slot(const struct allocator *allocator, omprma_addr_t address)
{
    unsigned position = arenas_up_to(allocator, address);
    if (position == 0)
        return ARENAS_MOST;
    unsigned slot = allocator->order[position - 1];
    const struct arena *arena = &allocator->arenas[slot];
    return address - arena->base < arena->bytes ? slot : (unsigned)ARENAS_MOST;
}

static omprma_status_t check_arena(const struct allocator *allocator, omprma_addr_t base,
                                   uint64_t bytes)
{
    if (base == 0 || base % ALLOCATOR_PAGE || bytes == 0 || bytes % ALLOCATOR_PAGE ||
        bytes > TLSF_LARGEST || base + bytes < base) {
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "arena of %" PRIu64 " bytes at %#" PRIx64 " cannot be used: both must be "
                         "multiples of 4096, not 0, and it may have at most 1 TiB",
                         bytes, base);
    }
    if (allocator->count == ARENAS_MOST) {
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "all %d arenas of the device are in use; begin with larger ones "
                         "(OMPRMA_ARENA)",
                         ARENAS_MOST);
    }
    unsigned position = arenas_up_to(allocator, base + bytes - 1);
    if (position > 0) {
        const struct arena *below = &allocator->arenas[allocator->order[position - 1]];
        if (below->base + below->bytes > base) {
            return error_set(OMPRMA_ERR_ARGUMENT,
                             "arena of %" PRIu64 " bytes at %#" PRIx64 " overlaps that of %" PRIu64
                             " bytes at %#" PRIx64,
                             bytes, base, below->bytes, below->base);
        }
    }
    return OMPRMA_OK;
}

omprma_status_t allocator_add_arena(struct allocator *allocator, omprma_addr_t base, uint64_t bytes)
{
    omprma_status_t status = check_arena(allocator, base, bytes);
    if (status)
        return status;
    unsigned slot = 0;
    while (allocator->arenas[slot].bytes)
        slot++;
    struct arena *arena = &allocator->arenas[slot];
    struct granules granules;
    if (!tlsf_ready(&allocator->tlsf, 1) ||
        !granules_open(&granules, bytes >> TLSF_GRANULE_SHIFT)) {
        return error_set(OMPRMA_ERR_HOST_MEMORY,
                         "no host memory to keep the books of an arena of %" PRIu64 " bytes; raise "
                         "the limit on address space (ulimit -v)",
                         bytes);
    }
    uint32_t number = tlsf_record(&allocator->tlsf);
    *arena = (struct arena){.base = base,
                            .bytes = bytes,
                            .added = ++allocator->added,
                            .first = number,
                            .granules = granules};
    allocator->tlsf.blocks[number] = (struct block){
        .start = base, .granules = bytes >> TLSF_GRANULE_SHIFT, .arena = slot & (ARENAS_MOST - 1)};
    tlsf_insert(&allocator->tlsf, number);
    unsigned position = arenas_up_to(allocator, base);
    for (unsigned i = allocator->count; i > position; i--) {
        allocator->bases[i] = allocator->bases[i - 1];
        allocator->order[i] = allocator->order[i - 1];
    }
    allocator->bases[position] = base;
    allocator->order[position] = (uint8_t)slot;
    allocator->count++;
    allocator->empty++;
    allocator->usage.arenas++;
    allocator->usage.arena_bytes += bytes;
    return OMPRMA_OK;
}

omprma_status_t allocator_remove_arena(struct allocator *allocator, omprma_addr_t base)
{
    unsigned slot = find_slot(allocator, base);
    if (slot == ARENAS_MOST || allocator->arenas[slot].base != base)
        return error_set(OMPRMA_ERR_ARGUMENT, "no arena begins at %#" PRIx64, base);
    struct arena *arena = &allocator->arenas[slot];
    if (arena->live) {
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "arena at %#" PRIx64 " still has %" PRIu64 " live blocks", base,
                         arena->live);
    }
    tlsf_remove(&allocator->tlsf, arena->first);
    tlsf_unrecord(&allocator->tlsf, arena->first);
    granules_close(&arena->granules);
    unsigned position = arenas_up_to(allocator, base) - 1;
    allocator->count--;
    allocator->empty--;
    allocator->usage.arenas--;
    allocator->usage.arena_bytes -= arena->bytes;
    for (unsigned i = position; i < allocator->count; i++) {
        allocator->bases[i] = allocator->bases[i + 1];
        allocator->order[i] = allocator->order[i + 1];
    }
    arena->bytes = 0;
    return OMPRMA_OK;
}

omprma_addr_t allocator_empty_arena(const struct allocator *allocator, uint64_t *bytes)
{
    if (allocator->empty < 2)
        return 0; /* the common case after each free: nothing to look for */
    const struct arena *first = NULL, *largest = NULL, *chosen = NULL;
    for (unsigned i = 0; i < allocator->count; i++) {
        const struct arena *arena = &allocator->arenas[allocator->order[i]];
        if (!first || arena->added < first->added)
            first = arena;
    }
    for (unsigned i = 0; i < allocator->count; i++) {
        const struct arena *arena = &allocator->arenas[allocator->order[i]];
        if (arena->live || arena == first)
            continue;
        if (!largest) {
            largest = arena;
        } else if (arena->bytes > largest->bytes) {
            chosen = largest;
            largest = arena;
        } else {
            chosen = arena;
        }
    }
    if (!chosen)
        return 0;
    *bytes = chosen->bytes;
    return chosen->base;
}

/* ---- take --------------------------------------------------------------------------------- */

/* Cuts a free block that is not in the index after `granules`; returns the rest, in the index. */
static uint32_t split(struct tlsf *tlsf, uint32_t number, uint64_t granules)
{
    uint32_t rest = tlsf_record(tlsf);
    struct block *block = &tlsf->blocks[number];
    tlsf->blocks[rest] = (struct block){.start = block->start + (granules << TLSF_GRANULE_SHIFT),
                                        .granules = block->granules - granules,
                                        .before = number,
                                        .after = block->after,
                                        .arena = block->arena};
    if (block->after)
        tlsf->blocks[block->after].before = rest;
    block->after = rest;
    block->granules = granules;
    return rest;
}

/* What a block of `bytes` takes from the granule on that it begins in. */
static uint64_t whole_bytes(uint64_t bytes, struct fit fit)
{
    uint64_t unit = bytes >= ALLOCATOR_LARGE ? ALLOCATOR_PAGE : ALLOCATOR_GRANULE;
    uint64_t before = fit.residue & ~(uint64_t)(ALLOCATOR_GRANULE - 1);
    return ((fit.residue + bytes + unit - 1) & ~(unit - 1)) - before;
}

omprma_addr_t allocator_take(struct allocator *allocator, uint64_t bytes, struct fit fit)
{
    if (bytes == 0 || bytes > TLSF_LARGEST)
        return 0;
    struct tlsf *tlsf = &allocator->tlsf;
    uint64_t padded = whole_bytes(bytes, fit);
    uint64_t first = fit.residue & ~(uint64_t)(ALLOCATOR_GRANULE - 1);
    uint32_t number = tlsf_find(tlsf, padded, fit.alignment, first);
    if (!number)
        return 0;
    struct block *block = &tlsf->blocks[number];
    struct arena *arena = &allocator->arenas[block->arena];
    uint64_t front = (first - block->start) & (fit.alignment - 1);
    uint64_t granule = arena_granule(arena, block->start + front);
    if (!tlsf_ready(tlsf, 2) || !granules_grow(&arena->granules, granule))
        return 0; /* no host memory; nothing has been changed yet */

    tlsf_remove(tlsf, number);
    if (front) {
        uint32_t rest = split(tlsf, number, front >> TLSF_GRANULE_SHIFT);
        tlsf_insert(tlsf, number);
        number = rest;
        block = &tlsf->blocks[number];
    }
    if (block_size(block) > padded)
        tlsf_insert(tlsf, split(tlsf, number, padded >> TLSF_GRANULE_SHIFT));
    block->state = BLOCK_LIVE;
    block->skipped = fit.residue & (ALLOCATOR_GRANULE - 1);
    block->padding = (padded - block->skipped - bytes) & (ALLOCATOR_PAGE - 1);
    granules_set(&arena->granules, granule, number);

    if (arena->live++ == 0)
        allocator->empty--;
    struct allocator_usage *usage = &allocator->usage;
    usage->blocks++;
    usage->used_bytes += padded;
    if (usage->used_bytes > usage->peak_bytes)
        usage->peak_bytes = usage->used_bytes;
    return block_begin(block);
}

/* ---- classify ----------------------------------------------------------------------------- */

/* The live block that holds `address`, with all of its granules; 0 if there is none. */
static uint32_t find_block(const struct allocator *allocator, const struct arena *arena,
                           omprma_addr_t address)
{
    uint32_t number = granules_find(&arena->granules, arena_granule(arena, address));
    if (!number)
        return 0;
    const struct block *block = &allocator->tlsf.blocks[number];
    return address - block->start < block_size(block) ? number : 0;
}

enum allocator_range allocator_classify(const struct allocator *allocator, omprma_addr_t address,
                                        uint64_t bytes, omprma_addr_t *block_start,
                                        uint64_t *block_bytes)
{
    bool wraps = bytes > 0 && address + (bytes - 1) < address;
    omprma_addr_t start = 0;
    uint64_t asked = 0;
    enum allocator_range range = RANGE_OUTSIDE;
    unsigned slot = find_slot(allocator, address);
    if (slot != ARENAS_MOST) {
        uint32_t number = find_block(allocator, &allocator->arenas[slot], address);
        const struct block *block = &allocator->tlsf.blocks[number];
        range = RANGE_FREE;
        if (number && address - block_begin(block) < block_asked(block)) {
            start = block_begin(block);
            asked = block_asked(block);
            range = bytes <= asked - (address - start) ? RANGE_LIVE : RANGE_OVERRUN;
        }
    } else {
        unsigned next = arenas_up_to(allocator, address);
        if (next < allocator->count && allocator->bases[next] - address < bytes)
            range = RANGE_FREE;
    }
    if (wraps)
        range = RANGE_OVERRUN;
    if (range == RANGE_LIVE || range == RANGE_OVERRUN) {
        if (block_start)
            *block_start = start;
        if (block_bytes)
            *block_bytes = asked;
    }
    return range;
}

/* ---- give --------------------------------------------------------------------------------- */

/* Says why `address` is not the start of a live block. A granule is remembered, not the address in
 * it. */
static omprma_status_t refuse(const struct allocator *allocator, omprma_addr_t address)
{
    unsigned slot = find_slot(allocator, address);
    if (slot == ARENAS_MOST) {
        return error_set(OMPRMA_ERR_ADDRESS,
                         "cannot free %#" PRIx64 ": it is in no memory of this device", address);
    }
    const struct arena *arena = &allocator->arenas[slot];
    uint32_t number = find_block(allocator, arena, address);
    if (number && address >= block_begin(&allocator->tlsf.blocks[number])) {
        const struct block *block = &allocator->tlsf.blocks[number];
        return error_set(OMPRMA_ERR_ADDRESS,
                         "cannot free %#" PRIx64 ": it is byte %" PRIu64 " of the block of %" PRIu64
                         " bytes at %#" PRIx64 "; free a block by its first address",
                         address, address - block_begin(block), block_asked(block),
                         block_begin(block));
    }
    bool freed = granules_freed(&arena->granules, arena_granule(arena, address));
    bool exact = address % ALLOCATOR_GRANULE == 0;
    return error_set(OMPRMA_ERR_ADDRESS, "cannot free %#" PRIx64 ": %s", address,
                     freed && exact ? "it was freed before"
                     : freed ? "no block begins there; one in the same 64 bytes was freed before"
                             : "no block begins there, it was never allocated");
}

/* Makes one block of `number` and the free neighbour behind it, which leaves the index. */
static void merge(struct tlsf *tlsf, uint32_t number, uint32_t behind)
{
    struct block *block = &tlsf->blocks[number];
    block->granules += tlsf->blocks[behind].granules;
    block->after = tlsf->blocks[behind].after;
    if (block->after)
        tlsf->blocks[block->after].before = number;
    tlsf_unrecord(tlsf, behind);
}

omprma_status_t allocator_give(struct allocator *allocator, omprma_addr_t address, uint64_t *bytes)
{
    unsigned slot = find_slot(allocator, address);
    if (slot == ARENAS_MOST)
        return refuse(allocator, address);
    struct tlsf *tlsf = &allocator->tlsf;
    struct arena *arena = &allocator->arenas[slot];
    uint64_t granule = arena_granule(arena, address);
    uint32_t number = granules_get(&arena->granules, granule);
    struct block *block = &tlsf->blocks[number];
    if (!number || address != block_begin(block))
        return refuse(allocator, address);
    if (bytes)
        *bytes = block_asked(block);
    allocator->usage.blocks--;
    allocator->usage.used_bytes -= block_size(block);
    if (--arena->live == 0)
        allocator->empty++;
    granules_clear(&arena->granules, granule);

    uint32_t after = block->after, before = block->before;
    if (after && tlsf->blocks[after].state == BLOCK_FREE) {
        tlsf_remove(tlsf, after);
        merge(tlsf, number, after);
    }
    if (before && tlsf->blocks[before].state == BLOCK_FREE) {
        tlsf_remove(tlsf, before);
        merge(tlsf, before, number);
        number = before;
    }
    tlsf_insert(tlsf, number);
    return OMPRMA_OK;
}

void allocator_usage(const struct allocator *allocator, struct allocator_usage *usage)
{
    *usage = allocator->usage;
}
