/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lacking.h: the books of variables that are the same on several sites (variables.h): the value of
 * each word that some region has written, and which bytes of it each site lacks. Words are counted
 * over all ranges, in the order in which these came. Moves nothing.
 *
 * Thread: the owner serialises all calls. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_PLACE_LACKING_H
#define OMPRMA_OPENMP_PLACE_LACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma_private/variables.h>

#include "openmp/device/device.h"

struct words {
    int sites;
    size_t count; /* of all ranges */
    size_t range_count;
    size_t *firsts;   /* of each range: its first word */
    uint64_t *common; /* what a word is now, if it was ever written */
    uint32_t *images; /* it is so far from the beginning of image n - 1; 0: no address of one */
    bool torn; /* a site has written what it lacked: regions without an order wrote the same */
    size_t image_count;
    struct image_place {
        uint64_t bytes, at[SITES_MOST];
    } * places;
    struct lack {
        uint8_t *masks;   /* bytes of each word that the site lacks */
        size_t low, high; /* other words than these it has */
    } lacks[SITES_MOST];
};

/* An image's places; *places are its sites', as many as there are. False: no memory. */
bool words_add_image(struct words *words, const uint64_t *places, uint64_t bytes);

/* One more range. False: no memory. */
bool words_add_range(struct words *words, const omprma_variables_range_t *range);

/* What a site has found that was written: whole records. Calls for each address in them that is not
 * one of an image. */
void words_take(struct words *words, int site, const char *records, size_t bytes,
                void (*call)(void *context, uint64_t address), void *context);

/* Room that words_give() needs; 0: the site lacks nothing. */
size_t words_lacking(const struct words *words, int site);

/* Records of all that the site lacks, which it has from now on. Their bytes. */
size_t words_give(struct words *words, int site, char *records);

#endif
