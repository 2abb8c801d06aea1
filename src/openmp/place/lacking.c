/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lacking.c: arrays over all words. An address of an image is kept as its distance from the image's
 * beginning; such a word counts as a whole, also when something else comes in its place.
 */
#include "openmp/place/lacking.h"

#include <stdlib.h>
#include <string.h>

/* With `more` zeroed items of so many bytes. */
static bool grow(void *list, size_t count, size_t more, size_t bytes)
{
    void **place = list;
    char *longer = reallocarray(*place, count + more, bytes);
    if (!longer)
        return false;
    memset(longer + count * bytes, 0, more * bytes);
    *place = longer;
    return true;
}

bool words_add_image(struct words *words, const uint64_t *places, uint64_t bytes)
{
    if (!grow(&words->places, words->image_count, 1, sizeof(*words->places)))
        return false;
    struct image_place *place = &words->places[words->image_count++];
    place->bytes = bytes;
    memcpy(place->at, places, (size_t)words->sites * sizeof(*places));
    return true;
}

bool words_add_range(struct words *words, const omprma_variables_range_t *range)
{
    size_t more = (range->at % 8 + range->bytes + 7) / 8;
    bool right = grow(&words->firsts, words->range_count, 1, sizeof(*words->firsts)) &&
                 grow(&words->common, words->count, more, sizeof(*words->common)) &&
                 grow(&words->images, words->count, more, sizeof(*words->images));
    for (int i = 0; i < words->sites && right; i++)
        right = grow(&words->lacks[i].masks, words->count, more, 1);
    if (!right)
        return false;
    words->firsts[words->range_count++] = words->count;
    words->count += more;
    return true;
}

/* ---- taking --------------------------------------------------------------------------------- */

static void lack_add(struct lack *lack, size_t at, uint8_t mask)
{
    if (lack->low == lack->high)
        lack->low = lack->high = at;
    if (at < lack->low)
        lack->low = at;
    if (at >= lack->high)
        lack->high = at + 1;
    lack->masks[at] |= mask;
}

/* The image that has this address on the site, counted from 1 on; 0: none. */
static uint32_t image_of(const struct words *words, int site, uint64_t address)
{
    for (size_t i = 0; i < words->image_count; i++) {
        const struct image_place *place = &words->places[i];
        if (address >= place->at[site] && address - place->at[site] < place->bytes)
            return (uint32_t)i + 1;
    }
    return 0;
}

static uint64_t bytes_of(uint8_t mask)
{
    uint64_t bytes = 0;
    for (int i = 0; i < 8; i++)
        bytes |= (mask >> i & 1 ? UINT64_C(0xff) : 0) << 8 * i;
    return bytes;
}

static void word_take(struct words *words, int site, size_t at, uint8_t mask, uint64_t word,
                      uint32_t image)
{
    if (image || words->images[at])
        mask = 0xff;
    if (image)
        word -= words->places[image - 1].at[site];
    words->images[at] = image;
    words->common[at] = (words->common[at] & ~bytes_of(mask)) | (word & bytes_of(mask));
    words->torn |= words->lacks[site].masks[at] & mask;
    for (int i = 0; i < words->sites; i++)
        if (i != site)
            lack_add(&words->lacks[i], at, mask);
    words->lacks[site].masks[at] &= (uint8_t)~mask;
}

void words_take(struct words *words, int site, const char *records, size_t bytes,
                void (*call)(void *context, uint64_t address), void *context)
{
    for (size_t at = 0; at < bytes;) {
        const omprma_variables_record_t *record = (const void *)(records + at);
        const uint8_t *masks = (const void *)(record + 1);
        const uint64_t *list = (const void *)(masks + omprma_variables_masks(record->words));
        size_t first = words->firsts[record->range] + record->first;
        uint32_t image = record->is_address ? image_of(words, site, list[0]) : 0;
        for (uint32_t i = 0; i < record->words; i++)
            word_take(words, site, first + i, masks[i], list[i], image);
        if (record->is_address && !image)
            call(context, list[0]);
        at += omprma_variables_bytes(record->words);
    }
}

/* ---- giving --------------------------------------------------------------------------------- */

size_t words_lacking(const struct words *words, int site)
{
    const struct lack *lack = &words->lacks[site];
    size_t count = 0;
    for (size_t i = lack->low; i < lack->high; i++)
        count += lack->masks[i] != 0;
    return count * omprma_variables_bytes(1);
}

static uint64_t word_on(const struct words *words, int site, size_t at)
{
    uint32_t image = words->images[at];
    return words->common[at] + (image ? words->places[image - 1].at[site] : 0);
}

/* Words of a range, from one on, that the site lacks and that follow each other. */
static size_t run_length(const struct lack *lack, size_t at, size_t end)
{
    size_t words = 0;
    while (at + words < end && lack->masks[at + words])
        words++;
    return words;
}

static size_t run_give(struct words *words, int site, size_t range, size_t at, size_t count,
                       char *to)
{
    struct lack *lack = &words->lacks[site];
    uint64_t room = omprma_variables_masks(count);
    omprma_variables_record_t record = {.range = (uint32_t)range,
                                        .first = (uint32_t)(at - words->firsts[range]),
                                        .words = (uint32_t)count};
    memcpy(to, &record, sizeof(record));
    to += sizeof(record);
    memset(to, 0, room);
    memcpy(to, lack->masks + at, count);
    memset(lack->masks + at, 0, count);
    to += room;
    for (size_t i = 0; i < count; i++) {
        uint64_t word = word_on(words, site, at + i);
        memcpy(to + 8 * i, &word, sizeof(word));
    }
    return omprma_variables_bytes(count);
}

size_t words_give(struct words *words, int site, char *records)
{
    struct lack *lack = &words->lacks[site];
    size_t bytes = 0;
    for (size_t range = 0; range < words->range_count; range++) {
        size_t at = words->firsts[range];
        size_t end = range + 1 < words->range_count ? words->firsts[range + 1] : words->count;
        at = at > lack->low ? at : lack->low;
        end = end < lack->high ? end : lack->high;
        for (size_t run; at < end; at += run ? run : 1)
            if ((run = run_length(lack, at, end)) > 0)
                bytes += run_give(words, site, range, at, run, records + bytes);
    }
    lack->low = lack->high = 0;
    return bytes;
}
