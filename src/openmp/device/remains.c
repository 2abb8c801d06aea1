/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * remains.c: Regions without an order may write parts of one range, one after the other where they
 * are on different sites. What an earlier one of them wrote cannot be made again below what a later
 * one has written on top of it: then the range is lost.
 */
#define XXH_INLINE_ALL /* for one function this library needs no other */
#include "openmp/device/remains.h"

#include <xxhash.h>

#include <omprma_private/memory.h>

#include "openmp/site/report.h"

enum { LINES = 16 };

/* ---- the program's memory ------------------------------------------------------------------- */

static uint64_t digest(const struct mapped *mapped)
{
    return XXH3_64bits((const void *)mapped->begin, mapped->end - mapped->begin);
}

/* The program may have freed it. */
bool remains_were_at_home(const struct mapped *mapped)
{
    const void *begin = (const void *)mapped->begin;
    size_t bytes = mapped->end - mapped->begin;
    return mapped->has_digest && omprma_memory_check(begin, bytes, false) == OMPRMA_OK &&
           digest(mapped) == mapped->digest;
}

bool remains_at_home(const struct mapped *mapped)
{
    return mapped->digest_of == mapped->settled_by && remains_were_at_home(mapped);
}

static void digest_take(struct mapped *mapped)
{
    mapped->digest = digest(mapped);
    mapped->digest_of = mapped->settled_by;
    mapped->has_digest = true;
}

/* ---- works ---------------------------------------------------------------------------------- */

/* Does another work that is under way write it? */
static bool has_other_writer(const struct mapped *mapped, uint64_t work)
{
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->writes && each->number != work)
        return true;
    return false;
}

/* Will the work that has pinned it have written it? */
static bool is_writer(const struct pinned *pinned)
{
    return pinned->writes && !pinned->gone;
}

uint64_t remains_version(const struct mapped *mapped)
{
    uint64_t version = mapped->settled_by;
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (is_writer(each) && each->number > version)
        version = each->number;
    return version;
}

bool remains_are_used(const struct mapped *mapped)
{
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (!each->gone)
        return true;
    return false;
}

/* Sites to which it is on its way. */
static uint64_t pending(const struct mapped *mapped)
{
    uint64_t sites = 0;
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->brings)
        sites |= UINT64_C(1) << each->site;
    return sites;
}

void remains_write(struct mapped *mapped, uint64_t work)
{
    if (!has_other_writer(mapped, work))
        mapped->settled = mapped_present(mapped) & ~pending(mapped);
}

/* Nobody has it, unless it is at home. */
static void range_lose(struct mapped *mapped, const struct site *site)
{
    if (!mapped->lost)
        mapped->lost_with = site->index + 1;
    mapped->lost = true;
    mapped->present = 0;
}

void remains_say(struct mapped *mapped, struct remains_told *told)
{
    char words[RANGE_WORDS];
    mapped->lost_with = 0;
    if (!mapped_is_wanted(mapped) || mapped_is_being_made(mapped) || remains_at_home(mapped) ||
        ++told->count > LINES)
        return;
    report(told->where, NULL, "lost with worker %d (%s): the values of %s", told->site->index,
           told->site->host, range_words(mapped, words));
}

void remains_say_more(const struct remains_told *told)
{
    if (told->count > LINES)
        report(told->where, NULL, "lost with worker %d (%s): the values of %zu more ranges",
               told->site->index, told->site->host, told->count - LINES);
}

static void over_done(const struct pinned *pinned, const struct remains_end *end)
{
    struct mapped *mapped = pinned->mapped;
    if (pinned->number == mapped->made_by)
        mapped->blank = !pinned->sent && !end->computes;
    bool stays = pinned->points && !pinned->sent && !end->computes &&
                 mapped->digest_of == mapped->settled_by;
    if (pinned->writes && pinned->number > mapped->settled_by) {
        mapped->settled = site_bit(end->site);
        mapped->settled_by = pinned->number;
    }
    if (stays)
        mapped->digest_of = mapped->settled_by;
    bool is_last = mapped->settled_by <= pinned->number;
    if (!end->computes && is_last && !has_other_writer(mapped, pinned->number) &&
        (pinned->given || pinned->whole))
        digest_take(mapped);
}

/* On a site that is there still: what the work has begun to bring or to write there is neither its
 * old value nor the new one. */
static void over_failed(const struct pinned *pinned, const struct remains_end *end)
{
    struct mapped *mapped = pinned->mapped;
    uint64_t here = site_bit(end->site);
    bool spoilt = pinned->brings || (pinned->writes && end->begun);
    bool other = has_other_writer(mapped, pinned->number);
    if (spoilt)
        mapped->settled &= ~here;
    if (pinned->writes && !other)
        mapped->present = mapped->settled;
    else if (spoilt)
        mapped->present &= ~here;
    if (pinned->writes && end->begun && other)
        mapped->present = 0;
}

static void range_over(const struct pinned *pinned, const struct remains_end *end)
{
    struct mapped *mapped = pinned->mapped;
    bool is_lost = end->site->settled;
    if (mapped->variable)
        return;
    /* Nobody has what it wrote, but that is what the range has to have again. */
    if (end->done && pinned->writes && pinned->number > mapped->settled_by &&
        (mapped->lost || is_lost))
        mapped->settled_by = pinned->number;
    if (mapped->lost)
        return;
    if (end->done && !(is_lost && pinned->writes))
        over_done(pinned, end);
    else if (end->done || (is_lost && pinned->writes && mapped->settled_by > pinned->number))
        mapped->present = 0;
    else if (!is_lost)
        over_failed(pinned, end);
    if (mapped->present == 0)
        range_lose(mapped, end->site);
}

static void pointer_owe(struct attached *pointer, void *context)
{
    (void)context;
    pointer->due = true;
}

/* Who attached pointers may have failed before they were there. */
static void pointers_over(const struct pinned *pinned, const struct remains_end *end)
{
    struct mapped *mapped = pinned->mapped;
    if (pinned->points && !end->done)
        mapped_each_pointer(mapped, mapped->begin, mapped->end - mapped->begin, pointer_owe, NULL);
}

void remains_over(struct pinned *pinned, const struct remains_end *end)
{
    range_over(pinned, end);
    pointers_over(pinned, end);
    pinned->writes = pinned->brings = false;
    pinned->gone = true;
}

/* ---- sites ---------------------------------------------------------------------------------- */

/* Nothing comes of works on the site. */
static void pins_go(struct mapped *mapped, const struct site *site)
{
    struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->site == site->index)
        each->gone = true;
}

/* Of the writers under way the first one that is on the site; *later: another one is behind it. */
static bool writer_on(const struct mapped *mapped, const struct site *site, bool *later)
{
    uint64_t first = UINT64_MAX;
    const struct pinned *each;
    *later = false;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->writes && each->site == site->index && each->number < first)
        first = each->number;
    LIST_FOREACH(each, &mapped->pins, link)
    *later |= each->writes && each->site != site->index && each->number > first;
    return first < UINT64_MAX;
}

void remains_lose(struct mapped *mapped, const struct site *site)
{
    bool later;
    if (mapped->variable || mapped->vacant || mapped->lost)
        return;
    bool writer = writer_on(mapped, site, &later);
    pins_go(mapped, site);
    mapped->settled &= ~site_bit(site);
    mapped->present = later    ? 0
                      : writer ? mapped->settled
                               : mapped_present(mapped) & ~site_bit(site);
    if (mapped->present == 0)
        range_lose(mapped, site);
}
