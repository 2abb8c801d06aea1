/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loss.c: Whether the run goes on is read once from the environment. A lost device is settled by
 * the first construct that meets it: each mapped range that is not being made by a construct under
 * way is marked as lost, and named in a line. A construct is spared, which means that the host
 * computes its region, unless it reads a range that is still marked; what it gives anew takes the
 * mark away.
 */
#include "openmp/loss.h"

#include <stdlib.h>
#include <strings.h>

#include "openmp/fault.h"
#include "openmp/report.h"
#include "openmp/work.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool goes_on;

static void goes_on_read(void)
{
    const char *wish = getenv("OMPRMA_ON_LOSS");
    goes_on = wish && strcasecmp(wish, "continue") == 0 && !devices_mandatory();
}

bool loss_goes_on(void)
{
    pthread_once(&once, goes_on_read);
    return goes_on;
}

/* `work`: the one whose end it is, or NULL. */
static bool tell(const struct location *where, struct device *device, int status, struct work *work)
{
    return work ? fault_report(work, status) : report_status(where, device, status);
}

static bool status_told(const struct location *where, struct device *device, int status,
                        struct work *work)
{
    if (status == OMPRMA_OK)
        return true;
    bool lost = status == OMPRMA_ERR_DEVICE_LOST || status == OMPRMA_ERR_KERNEL;
    if (!lost || !loss_goes_on())
        return tell(where, device, status, work);
    if (!atomic_exchange(&device->site.lost, true)) {
        tell(where, device, status, work);
        report(where, device, "it is lost; its regions are computed on the host from here on");
    }
    return false;
}

bool loss_status(const struct location *where, struct device *device, int status)
{
    return status_told(where, device, status, NULL);
}

bool loss_end_status(struct work *work, int status)
{
    return status_told(work->where, work->device, status, work);
}

bool loss_refuses(const char *function, struct device *device)
{
    if (!device || !device_is_lost(device))
        return false;
    if (!atomic_exchange(&device->refused, true))
        report(NULL, device, "%s: the device is lost, and so is what it had", function);
    return true;
}

/* What a construct under way has made itself comes from the host, or is made there once more. */
static bool is_being_made(const struct mapped *mapped)
{
    const struct pinned *each;
    LIST_FOREACH(each, &mapped->pins, link)
    if (each->work->number == mapped->made_by)
        return true;
    return false;
}

/* Says what is lost with the device, if that was not said yet. */
static void settle(struct device *device, const struct location *where)
{
    enum { LINES = 16 };
    char words[RANGE_WORDS];
    size_t count = 0;
    if (device->settled)
        return;
    device->settled = true;
    for (struct mapped *each = mapping_first(&device->mapping); each; each = mapping_next(each)) {
        each->lost = !mapped_is_over(each) && !is_being_made(each);
        if (each->lost && ++count <= LINES)
            report(where, device, "lost with it: the values of %s", range_words(each, words));
    }
    if (count > LINES)
        report(where, device, "lost with it: the values of %zu more ranges", count - LINES);
}

static bool refuse(const struct work *work, const struct mapped *mapped)
{
    char words[RANGE_WORDS];
    return report(work->where, work->device,
                  "the values of %s were lost with the device, and the host does not have them: "
                  "give them anew before, by target update to",
                  range_words(mapped, words));
}

bool loss_spares(const struct work *work)
{
    const struct pinned *each;
    settle(work->device, work->where);
    for (each = work->pinned; each; each = each->next)
        if (each->given)
            each->mapped->lost = false;
    for (each = work->pinned; each; each = each->next)
        if (each->mapped->lost && (work->computes || each->retrieved))
            return refuse(work, each->mapped);
    return true;
}
