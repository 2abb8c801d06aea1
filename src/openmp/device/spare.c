/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * spare.c: A lost site is settled by the first construct that meets it: each mapped range that is
 * not being made by a construct under way is marked as lost, and named in a line. What a construct
 * gives anew takes the mark away.
 */
#include "openmp/device/spare.h"

#include <stddef.h>

#include "openmp/device/mapping.h"
#include "openmp/site/report.h"
#include "openmp/site/site.h"

/* Says what is lost with the site, if that was not said yet. */
static void settle(struct site *site, const struct mapping *mapping, const struct location *where)
{
    enum { LINES = 16 };
    char words[RANGE_WORDS];
    size_t count = 0;
    if (site->settled)
        return;
    site->settled = true;
    for (struct mapped *each = mapping_first(mapping); each; each = mapping_next(each)) {
        each->lost = !mapped_is_over(each) && !mapped_is_being_made(each);
        if (each->lost && ++count <= LINES)
            report(where, site, "lost with it: the values of %s", range_words(each, words));
    }
    if (count > LINES)
        report(where, site, "lost with it: the values of %zu more ranges", count - LINES);
}

bool spare_refused(const struct location *where, const struct site *site,
                   const struct mapped *mapped)
{
    char words[RANGE_WORDS];
    return report(where, site,
                  "the values of %s were lost with the device, and the host does not have them: "
                  "give them anew before, by target update to",
                  range_words(mapped, words));
}

bool spare(struct site *site, const struct mapping *mapping, const struct needs *needs)
{
    const struct pinned *each;
    settle(site, mapping, needs->where);
    for (each = needs->pinned; each; each = each->next)
        if (each->given)
            each->mapped->lost = false;
    for (each = needs->pinned; each; each = each->next)
        if (each->mapped->lost && (needs->computes || each->retrieved))
            return spare_refused(needs->where, site, each->mapped);
    return true;
}
