/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* end.c: The site is written before it is said that placement has ended; it ends once. */
#include "openmp/place/end.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include <omprma_private/say.h>

#include "openmp/device/devices.h"
#include "openmp/device/losses.h"
#include "openmp/place/copies.h"
#include "openmp/site/report.h"

static struct {
    pthread_mutex_t lock;
    atomic_bool ended;
    atomic_int last; /* the site that does everything then */
} placement = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool placement_is_on(void)
{
    return devices_are_placed() && !atomic_load_explicit(&placement.ended, memory_order_acquire);
}

/* When that is lost, another one goes on. */
struct device *placement_last(void)
{
    return device_living(device_of_site(atomic_load(&placement.last)));
}

static bool all_brought(struct device *device)
{
    pthread_mutex_lock(&device->space->lock);
    struct work *work = work_begin_locked(device, NULL, WORK_WAITED);
    bool right = work && copies_use_all(work, true) && copies_pin(work);
    pthread_mutex_unlock(&device->space->lock);
    return work && work_finish(work) && right;
}

/* Is this the first time? */
static bool ends_now(int site)
{
    pthread_mutex_lock(&placement.lock);
    bool now = !atomic_load(&placement.ended);
    if (now) {
        atomic_store(&placement.last, site);
        atomic_store(&placement.ended, true);
    }
    pthread_mutex_unlock(&placement.lock);
    return now;
}

bool placement_end_at(int site, const char *why)
{
    char text[384], worker[32] = "the first worker";
    if (!devices_are_placed())
        return true;
    if (!ends_now(site))
        return placement_last()->site.index == site ||
               report(NULL, &device_of_site(site)->site,
                      "%s, and all regions run on another worker from here on: run the program "
                      "without --placement",
                      why);
    if (site > 0)
        snprintf(worker, sizeof(worker), "worker %d", site);
    snprintf(text, sizeof(text), "%s=%s: %s, so all regions run on %s from here on",
             devices_placed_by(), devices_placement(), why, worker);
    omprma_say(OMPRMA_SAY_NOTE, text);
    return all_brought(placement_last());
}

bool placement_end(const char *why)
{
    return !placement_is_on() || placement_end_at(placement_last()->site.index, why);
}

bool placement_give(const char *how)
{
    char why[192];
    if (devices_are_named())
        return true;
    snprintf(why, sizeof(why),
             "the program asks for device addresses (%s; --placement named is for programs whose "
             "regions name what they use)",
             how);
    return placement_end(why);
}
