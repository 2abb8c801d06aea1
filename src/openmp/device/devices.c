/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* devices.c: The list is made once, and stays: its number is written last. */
#include "openmp/device/devices.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include <omprma_private/common.h>

#include "face/gate.h"
#include "openmp/device/allocated.h"
#include "openmp/device/environment.h"
#include "openmp/site/loss.h"
#include "openmp/site/report.h"

static struct devices {
    atomic_int count; /* that the program sees */
    int sites;
    struct device *all; /* one for each site */
    struct space *spaces;
    pid_t pid;   /* of the process that started omprma: a child must not end it, */
    bool forked; /* which this one is */
    bool named;  /* see devices_are_named() */
} devices;

static void note_fork(void)
{
    devices.forked = true;
}

static void range_forgotten(void *space, const struct suballoc *part)
{
    suballoc_give(&((struct space *)space)->memory, NULL, part);
}

static bool ranges_forget(void *space)
{
    return mapping_forget(&((struct space *)space)->mapping);
}

static void space_begin(struct space *space, struct site *site)
{
    pthread_mutex_init(&space->lock, NULL);
    mapping_init(&space->mapping, range_forgotten, space);
    suballocator_init(&space->memory, site, ranges_forget, space);
    allocated_begin(space);
}

static void space_serve(struct space *space, struct device *device, int index, int remote)
{
    device->space = space;
    site_init(&device->site, device->number, remote);
    device->site.index = index;
    device->site.shares = space->sites++ > 0;
    devices.all[0].site.shares |= device->site.shares;
}

/* Each has a space. */
static void devices_begin(const int *remotes, int count)
{
    for (int i = 0; i < count; i++) {
        devices.all[i].number = i;
        space_serve(&devices.spaces[i], &devices.all[i], i, remotes[i]);
        space_begin(&devices.spaces[i], &devices.all[i].site);
    }
}

/* Those that run code for this kind of machine. */
static int devices_find(int *remotes, int count)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        omprma_device_info_t info;
        if (omprma_device_info(i, &info) == OMPRMA_OK && info.native)
            remotes[found++] = i;
    }
    return found;
}

const char *devices_placement(void)
{
    return devices.named ? "named" : "auto";
}

const char *devices_placed_by(void)
{
    const char *option = getenv("OMPRMA_INTERNAL_OPTION_PLACEMENT");
    return option && *option ? option : "OMPRMA_PLACEMENT";
}

static bool placement_is(const char *wanted)
{
    const char *wish = getenv("OMPRMA_PLACEMENT");
    return wish && strcasecmp(wish, wanted) == 0;
}

/* Why the runtime cannot choose workers in this run; NULL: it can. */
static const char *placement_refusal(int workers)
{
    return workers > SITES_MOST ? "it serves at most 64 workers; start fewer" : NULL;
}

/* All workers serve one space, at the same addresses. */
static bool devices_place(const int *remotes, int count)
{
    const char *refusal = placement_refusal(count);
    if (!refusal && omprma_memory_join(remotes, count) != OMPRMA_OK)
        refusal = omprma_error();
    if (refusal)
        return report(NULL, NULL, "%s=%s: %s", devices_placed_by(), devices_placement(), refusal);
    for (int i = 0; i < count; i++)
        space_serve(devices.spaces, &devices.all[i], i, remotes[i]);
    space_begin(devices.spaces, &devices.all[0].site);
    report_choice("%s=%s: %d workers serve device 0", devices_placed_by(), devices_placement(),
                  count);
    return true;
}

/* As many as the program sees; -1: reported. */
static int devices_fill(const int *remotes, int workers)
{
    devices.sites = workers;
    devices.named = placement_is("named");
    if (workers > 1 && (devices.named || placement_is("auto")))
        return devices_place(remotes, workers) ? 1 : -1;
    devices_begin(remotes, workers);
    return workers;
}

int devices_make(void)
{
    int count = omprma_device_count();
    char text[ENVIRONMENT_BYTES];
    if (count <= 0)
        return 0;
    devices.all = calloc((size_t)count, sizeof(*devices.all));
    devices.spaces = calloc((size_t)count, sizeof(*devices.spaces));
    int *remotes = calloc((size_t)count, sizeof(*remotes));
    if (!devices.all || !devices.spaces || !remotes) {
        report(NULL, NULL, "no host memory for the tables of %d devices", count);
        free(devices.all);
        free(devices.spaces);
        free(remotes);
        return 0;
    }
    int workers = environment_devices(remotes, devices_find(remotes, count), text);
    if (workers < 0)
        report(NULL, NULL, "%s", text);
    int made = workers < 0 ? -1 : devices_fill(remotes, workers);
    if (made < 0)
        report_fatal(NULL);
    free(remotes);
    devices.pid = getpid();
    pthread_atfork(NULL, NULL, note_fork);
    atomic_store(&devices.count, made);
    return made;
}

bool devices_are_placed(void)
{
    return devices_sites() > devices_made();
}

bool devices_are_named(void)
{
    return devices.named && devices_are_placed();
}

int devices_sites(void)
{
    return devices_made() > 0 ? devices.sites : 0;
}

struct device *device_of_site(int index)
{
    return &devices.all[index];
}

int devices_made(void)
{
    return atomic_load_explicit(&devices.count, memory_order_acquire);
}

int devices_started(void)
{
    return gate_closed() ? 0 : devices_made();
}

bool devices_ended(void)
{
    return gate_closed();
}

bool devices_forked(void)
{
    return devices.forked;
}

bool devices_are_here(void)
{
    return devices.pid == getpid();
}

struct device *device_at(int number)
{
    return number >= 0 && number < devices_made() ? &devices.all[number] : NULL;
}
