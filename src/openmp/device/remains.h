/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * remains.h: what remains of a range when a site is lost, where several serve its space.
 *
 * A range has two masks of sites. `present` is as of all that has been issued: a writer's site is
 * the only one. `settled` are the sites that have the value as of all writers that are over, also
 * while another one is under way: if that one fails, they have what it has to begin with again. And
 * the program's memory may have a value still: that of the last construct which gave or brought all
 * of it. As the program may have changed its memory, a digest tells. Pointers that are attached in
 * it are no part of that value: who gives it from there attaches them as well.
 *
 * A value is told by the number of the work that wrote it: its version.
 *
 * Works that use a range and are under way have pinned it.
 *
 * Thread: the caller holds the space's lock. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_DEVICE_REMAINS_H
#define OMPRMA_OPENMP_DEVICE_REMAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "openmp/device/mapping.h"
#include "openmp/site/site.h"

struct location;

static inline uint64_t site_bit(const struct site *site)
{
    return UINT64_C(1) << site->index;
}

/* The sites that have its present value; none: it is lost. */
static inline uint64_t mapped_present(const struct mapped *mapped)
{
    return mapped->lost ? 0 : mapped->present ? mapped->present : 1;
}

/* Does the program's memory have its value, as of all writers that are over? */
bool remains_at_home(const struct mapped *mapped);

/* Or the one of `digest_of`? */
bool remains_were_at_home(const struct mapped *mapped);

/* Of its value as of all that has been issued, but on sites that are lost. */
uint64_t remains_version(const struct mapped *mapped);

/* Is a work under way that uses it, on a site that is not lost? */
bool remains_are_used(const struct mapped *mapped);

/* A work, which may have it brought to its site, is about to write it there. Comes before
 * remains_bring() and changes of `present`. */
void remains_write(struct mapped *mapped, uint64_t work);

/* A copy comes to the site. */
static inline void remains_bring(struct mapped *mapped, const struct site *site)
{
    mapped->settled &= ~site_bit(site);
}

/* How a work has ended that has pinned it. */
struct remains_end {
    const struct site *site;
    bool done;
    bool begun;    /* else nothing of it has been done; for one that is not done */
    bool computes; /* it is a region */
};

void remains_over(struct pinned *pinned, const struct remains_end *end);

/* The site is lost. */
void remains_lose(struct mapped *mapped, const struct site *site);

/* The range is lost, and nothing was said of that: it may be computed again. */
static inline bool mapped_is_pending(const struct mapped *mapped)
{
    return mapped->lost && mapped->lost_with > 0;
}

/* The range has a value again. */
static inline void mapped_recover(struct mapped *mapped)
{
    mapped->lost = false;
    mapped->lost_with = 0;
}

/* Lines that say what is lost with a site. */
struct remains_told {
    const struct location *where;
    const struct site *site;
    size_t count;
};

/* Of a range that is pending, and was lost with the site: it stays lost. */
void remains_say(struct mapped *mapped, struct remains_told *told);

/* Says how many more were lost than had a line. */
void remains_say_more(const struct remains_told *told);

#endif
