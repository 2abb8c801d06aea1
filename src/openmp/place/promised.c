/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * promised.c: both sums are launches in the region's queue of a kernel that all images have; the
 * second one compares, and gives back which sum is another one now. Only that comes back.
 */
#include "openmp/place/promised.h"

#include <stddef.h>
#include <stdio.h>

#include <omprma_private/check.h>
#include <omprma_private/variables.h>

#include "openmp/abi/location.h"
#include "openmp/run/work.h"

enum { PLACE_BYTES = 256, LINE_BYTES = 768 };

bool promised_add(struct work *work, const struct mapped *mapped, const void *begin, size_t bytes,
                  const char *name)
{
    struct promised *promised = &work->promised;
    uintptr_t from = (uintptr_t)begin, to = from + bytes;
    if (!omprma_check_wanted() || !work->site->variables || mapped->variable || bytes == 0)
        return true;
    if (promised->count == promised->room) {
        void *list = work_grow(work, promised->list, &promised->room, sizeof(*promised->list),
                               "what is only read");
        if (!list)
            return false;
        promised->list = list;
    }
    from = from < mapped->begin ? mapped->begin : from;
    to = to > mapped->end ? mapped->end : to;
    promised->list[promised->count++] =
        (struct promise){mapped, mapped_address(mapped, from), to - from, name};
    return true;
}

/* Where the region's maps bring something to the range as well, such as a pointer, it has other
 * contents behind it. */
static void promises_drop(struct work *work)
{
    struct promised *promised = &work->promised;
    size_t kept = 0;
    for (size_t i = 0; i < promised->count; i++) {
        const struct mapped *range = promised->list[i].range;
        if (range->used_by == work->number && !work->uses.list[range->use].writes &&
            range->ways == 0)
            promised->list[kept++] = promised->list[i];
    }
    promised->count = kept;
}

static bool sums_launch(struct work *work, bool again)
{
    const uint64_t words[] = {OMPRMA_VARIABLES_SUM, work->promised.sums.device, again, 0};
    return work_launch(work, work->site->variables, NULL, words, 4);
}

bool promised_sum(struct work *work)
{
    const struct promised *promised = &work->promised;
    promises_drop(work);
    if (promised->count == 0)
        return true;
    size_t bytes =
        sizeof(omprma_variables_sums_t) + promised->count * sizeof(omprma_variables_sum_t);
    omprma_variables_sums_t *sums = work_keep(work, bytes);
    if (!sums || !work_alloc(work, "sums of what is only read", 0, bytes, &work->promised.sums))
        return false;
    omprma_variables_sum_t *list = (void *)(sums + 1);
    sums->count = promised->count;
    for (size_t i = 0; i < promised->count; i++)
        list[i] = (omprma_variables_sum_t){promised->list[i].at, promised->list[i].bytes, 0};
    return work_submit(work, promised->sums.device, sums, bytes, NULL) && sums_launch(work, false);
}

bool promised_sum_again(struct work *work)
{
    struct promised *promised = &work->promised;
    if (promised->count == 0 || !promised->sums.device || work->lost)
        return true;
    return sums_launch(work, true) &&
           work_retrieve_own(work, &promised->changed,
                             promised->sums.device + offsetof(omprma_variables_sums_t, changed),
                             sizeof(promised->changed));
}

void promised_tell(struct work *work)
{
    const struct promised *promised = &work->promised;
    char place[PLACE_BYTES], line[LINE_BYTES];
    if (promised->changed == 0 || promised->changed > promised->count)
        return;
    const struct promise *broken = &promised->list[promised->changed - 1];
    struct name name = name_of(broken->name);
    if (!location_words(work->where, place, sizeof(place)))
        snprintf(place, sizeof(place), "a region");
    snprintf(line, sizeof(line),
             "%s: writes \"%.*s\" (%zu bytes), which it only reads by its word, depend(in:) or, "
             "with --placement named, map(to:): other workers do not see that; write "
             "depend(inout:), or map(tofrom:)",
             place, name.length, name.text, broken->bytes);
    omprma_check_found((uintptr_t)work->where, promised->changed, line);
}
