/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* losses.c: Who finds that something has failed asks the core which sites are lost: it may be
 * another one than its own, from which data was to come. */
#include "openmp/device/losses.h"

#include <stdatomic.h>
#include <time.h>

#include <omprma_private/common.h>

#include "openmp/device/devices.h"
#include "openmp/device/remains.h"
#include "openmp/site/loss.h"
#include "openmp/site/report.h"

static atomic_uint seen_so_far;

bool losses_matter(void)
{
    return devices_are_placed() && loss_goes_on();
}

unsigned losses_seen(void)
{
    return atomic_load_explicit(&seen_so_far, memory_order_acquire);
}

struct device *device_living(struct device *device)
{
    for (int i = 0; site_is_lost(&device->site) && device->site.shares && i < devices_sites(); i++)
        if (!site_is_lost(&device_of_site(i)->site))
            return device_of_site(i);
    return device;
}

bool device_is_served(struct device *device)
{
    return !device_is_lost(device_living(device));
}

static void site_say(const struct location *where, const struct site *site)
{
    bool served = device_is_served(device_of_site(site->index));
    report(where, NULL, "worker %d (%s) is lost; its regions %s from here on", site->index,
           site->host, served ? "go to other workers" : "are computed on the host");
}

bool losses_explain(const struct location *where, int status, unsigned seen,
                    bool (*tell)(void *context, int status), void *context)
{
    for (int i = 0; i < devices_sites(); i++) {
        struct site *site = &device_of_site(i)->site;
        if (site_is_lost(site) || !omprma_device_is_lost(site->remote) ||
            atomic_exchange(&site->lost, true))
            continue;
        if (losses_seen() == seen)
            tell(context, status);
        atomic_fetch_add(&seen_so_far, 1);
        site_say(where, site);
    }
    return status == OMPRMA_ERR_DEVICE_LOST || status == OMPRMA_ERR_KERNEL ||
           (losses_seen() != seen && status != OMPRMA_ERR_ARGUMENT);
}

void losses_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- what is lost --------------------------------------------------------------------------- */

static void site_settle(struct space *space, const struct site *site)
{
    struct mapped *each;
    for (each = mapping_first(&space->mapping); each; each = mapping_next(each))
        remains_lose(each, site);
    for (each = mapping_first(&space->blocks); each; each = mapping_next(each))
        remains_lose(each, site);
}

static bool range_can_return(struct space *space, struct mapped *mapped)
{
    return space->can_recompute && mapped_is_wanted(mapped) &&
           device_is_served(device_of_site(0)) && space->can_recompute(space, mapped);
}

static void table_tell(struct space *space, const struct mapping *mapping,
                       struct remains_told *told)
{
    for (struct mapped *each = mapping_first(mapping); each; each = mapping_next(each)) {
        if (!mapped_is_pending(each) || each->lost_with != told->site->index + 1)
            continue;
        if (range_can_return(space, each))
            space->has_pending = true;
        else
            remains_say(each, told);
    }
}

void losses_tell(struct space *space, const struct location *where)
{
    space->has_pending = false;
    for (int i = 0; i < devices_sites(); i++) {
        struct remains_told told = {where, &device_of_site(i)->site, 0};
        table_tell(space, &space->mapping, &told);
        table_tell(space, &space->blocks, &told);
        remains_say_more(&told);
    }
}

/* The host is the device from now on. */
static void space_to_host(struct space *space)
{
    for (struct mapped *each = mapping_first(&space->mapping); each; each = mapping_next(each)) {
        each->lost = each->variable || (each->lost && !remains_at_home(each));
        each->present = 1; /* who serves it does not matter any more */
    }
}

void losses_settle(struct space *space, const struct location *where)
{
    bool news = false;
    for (int i = 0; i < devices_sites(); i++) {
        struct site *site = &device_of_site(i)->site;
        if (!site_is_lost(site) || site->settled)
            continue;
        site->settled = news = true;
        site_settle(space, site);
    }
    if (news)
        losses_tell(space, where);
    if (news && !device_is_served(device_of_site(0)))
        space_to_host(space);
}
