/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* granules.c: pages, leaves and the bitmap above them. */
#include "host/memory/granules.h"

#include "base/check.h"

enum { WORD_MASK = GRANULES_PAGE - 1 };

static uint64_t words_for(uint64_t bits)
{
    return (bits + WORD_MASK) >> GRANULES_SHIFT;
}

static uint64_t bit_of(uint64_t index)
{
    return UINT64_C(1) << (index & WORD_MASK);
}

static unsigned highest_bit(uint64_t word)
{
    return WORD_MASK - (unsigned)__builtin_clzll(word);
}

/* ---- memory ------------------------------------------------------------------------------- */

bool granules_open(struct granules *granules, uint64_t count)
{
    *granules = (struct granules){.leaf_records = 1};
    uint64_t pages = words_for(count), upper_words = 0;
    for (uint64_t bits = pages; bits > 1; bits = words_for(bits)) {
        upper_words += words_for(bits);
        granules->uppers++;
    }
    CHECK(granules->uppers, <, GRANULES_LEVELS);
    if (!reserve_open(&granules->page_memory, pages * sizeof(struct granule_page), true))
        goto fail;
    if (!reserve_open(&granules->leaf_memory, (pages + 1) * sizeof(struct granule_leaf), false))
        goto close_pages;
    /* The words above are 1/32768 of the arena: usable as a whole. */
    size_t upper_bytes = (upper_words + 1) * sizeof(uint64_t);
    if (!reserve_open(&granules->upper_memory, upper_bytes, true))
        goto close_leaves;
    if (!reserve_grow(&granules->upper_memory, upper_bytes))
        goto close_upper;
    granules->pages = granules->page_memory.base;
    granules->leaves = granules->leaf_memory.base;
    uint64_t *next = granules->upper_memory.base;
    uint64_t bits = pages;
    for (unsigned level = 0; level < granules->uppers; level++) {
        granules->upper[level] = next;
        bits = words_for(bits);
        next += bits;
    }
    return true;

close_upper:
    reserve_close(&granules->upper_memory);
close_leaves:
    reserve_close(&granules->leaf_memory);
close_pages:
    reserve_close(&granules->page_memory);
fail:
    return false;
}

void granules_close(struct granules *granules)
{
    reserve_close(&granules->upper_memory);
    reserve_close(&granules->leaf_memory);
    reserve_close(&granules->page_memory);
}

bool granules_grow(struct granules *granules, uint64_t granule)
{
    uint64_t page = granule >> GRANULES_SHIFT;
    if (page >= granules->ready) {
        if (!reserve_grow(&granules->page_memory, (page + 1) * sizeof(struct granule_page)))
            return false;
        granules->ready = granules->page_memory.ready / sizeof(struct granule_page);
    }
    size_t leaf_bytes = ((size_t)granules->leaf_records + 1) * sizeof(struct granule_leaf);
    return granules->leaf_spare != 0 || leaf_bytes <= granules->leaf_memory.ready ||
           reserve_grow(&granules->leaf_memory, leaf_bytes);
}

static uint32_t take_leaf(struct granules *granules)
{
    uint32_t leaf = granules->leaf_spare;
    if (!leaf)
        return granules->leaf_records++;
    granules->leaf_spare = granules->leaves[leaf].block[0];
    return leaf;
}

static void give_leaf(struct granules *granules, uint32_t leaf)
{
    granules->leaves[leaf].block[0] = granules->leaf_spare;
    granules->leaf_spare = leaf;
}

/* ---- changes ------------------------------------------------------------------------------ */

void granules_set(struct granules *granules, uint64_t granule, uint32_t block)
{
    uint64_t index = granule >> GRANULES_SHIFT;
    struct granule_page *page = &granules->pages[index];
    uint64_t before = page->live;
    if (before && !page->leaf) {
        page->leaf = take_leaf(granules);
        granules->leaves[page->leaf].block[highest_bit(before)] = page->block;
    }
    if (page->leaf)
        granules->leaves[page->leaf].block[granule & WORD_MASK] = block;
    else
        page->block = block;
    page->live = before | bit_of(granule);
    for (unsigned level = 0; level < granules->uppers && !before; level++) {
        uint64_t *word = &granules->upper[level][index >> GRANULES_SHIFT];
        before = *word;
        *word = before | bit_of(index);
        index >>= GRANULES_SHIFT;
    }
}

void granules_clear(struct granules *granules, uint64_t granule)
{
    uint64_t index = granule >> GRANULES_SHIFT;
    struct granule_page *page = &granules->pages[index];
    page->live &= ~bit_of(granule);
    page->freed |= bit_of(granule);
    uint64_t left = page->live;
    if (!left && page->leaf) {
        give_leaf(granules, page->leaf);
        page->leaf = 0;
    }
    for (unsigned level = 0; level < granules->uppers && !left; level++) {
        uint64_t *word = &granules->upper[level][index >> GRANULES_SHIFT];
        *word &= ~bit_of(index);
        left = *word;
        index >>= GRANULES_SHIFT;
    }
}

/* ---- questions ---------------------------------------------------------------------------- */

static uint32_t block_at(const struct granules *granules, const struct granule_page *page,
                         uint64_t place)
{
    return page->leaf ? granules->leaves[page->leaf].block[place] : page->block;
}

uint32_t granules_get(const struct granules *granules, uint64_t granule)
{
    uint64_t index = granule >> GRANULES_SHIFT;
    if (index >= granules->ready || !(granules->pages[index].live & bit_of(granule)))
        return 0;
    return block_at(granules, &granules->pages[index], granule & WORD_MASK);
}

bool granules_freed(const struct granules *granules, uint64_t granule)
{
    uint64_t index = granule >> GRANULES_SHIFT;
    return index < granules->ready && (granules->pages[index].freed & bit_of(granule));
}

/* The last page before `index` in which a block begins: up until a word has an earlier bit, then
 * down along the last bits. False if there is none. */
static bool find_page_before(const struct granules *granules, uint64_t index, uint64_t *found)
{
    for (unsigned level = 0; level < granules->uppers; level++) {
        uint64_t word = granules->upper[level][index >> GRANULES_SHIFT] & (bit_of(index) - 1);
        if (word) {
            index = (index & ~(uint64_t)WORD_MASK) | highest_bit(word);
            while (level-- > 0)
                index = index << GRANULES_SHIFT | highest_bit(granules->upper[level][index]);
            *found = index;
            return true;
        }
        index >>= GRANULES_SHIFT;
    }
    return false;
}

uint32_t granules_find(const struct granules *granules, uint64_t granule)
{
    uint64_t index = granule >> GRANULES_SHIFT, live = 0;
    if (index < granules->ready)
        live = granules->pages[index].live & ((bit_of(granule) << 1) - 1);
    if (!live) {
        if (!find_page_before(granules, index, &index))
            return 0;
        live = granules->pages[index].live;
    }
    return block_at(granules, &granules->pages[index], highest_bit(live));
}

static uint64_t total_below(const struct granules *granules, unsigned level, uint64_t index)
{
    if (level == 0)
        return (uint64_t)__builtin_popcountll(granules->pages[index].live);
    uint64_t total = 0;
    for (uint64_t word = granules->upper[level - 1][index]; word; word &= word - 1)
        total += total_below(granules, level - 1,
                             index << GRANULES_SHIFT | (uint64_t)__builtin_ctzll(word));
    return total;
}

uint64_t granules_total(const struct granules *granules)
{
    return granules->ready ? total_below(granules, granules->uppers, 0) : 0;
}
