/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* deal.c: how many regions will come is not known, but how many ranges there are, and which part of
 * them is used. */
#include "openmp/place/deal.h"

enum { LEAST = 2 }; /* ranges for each site */

void deal_enter(struct deal *deal, struct mapped *mapped)
{
    if (deal->used > 0 || deal->number == 0)
        *deal = (struct deal){.number = deal->number + 1, .region = deal->region};
    deal->entered++;
    mapped->dealt = (struct dealt){.deal = deal->number};
}

void deal_region(struct deal *deal)
{
    deal->region++;
    deal->used_before = deal->used;
    deal->apart = deal->shares = false;
}

void deal_use(struct deal *deal, struct mapped *mapped, bool writes)
{
    struct dealt *dealt = &mapped->dealt;
    if (dealt->deal == 0 || dealt->deal != deal->number ||
        (dealt->written_by > 0 && dealt->written_by != deal->region))
        deal->apart = true;
    else if (dealt->used_by == 0)
        deal->used++;
    else if (dealt->used_by != deal->region)
        deal->shares = true;
    if (dealt->used_by == 0)
        dealt->used_by = deal->region;
    if (writes)
        dealt->written_by = deal->region;
}

int deal_site(const struct deal *deal, int sites)
{
    if (deal->apart || !deal->shares || deal->entered < LEAST * (uint64_t)sites)
        return -1;
    uint64_t block = deal->used_before * (uint64_t)sites / deal->entered;
    return (deal->first + (int)(block < (uint64_t)sites ? block : (uint64_t)sites - 1)) % sites;
}

void deal_gone(struct deal *deal, int site)
{
    if (deal->used_before == 0 && deal->used > 0)
        deal->first = site;
}
