/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* devices.c: The list is made once, and stays: its number is written last. */
#include "openmp/device/devices.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "face/gate.h"
#include "openmp/device/environment.h"
#include "openmp/site/report.h"

static struct devices {
    atomic_int count;
    struct device *all;
    pid_t pid;   /* of the process that started omprma: a child must not end it, */
    bool forked; /* which this one is */
} devices;

static void note_fork(void)
{
    devices.forked = true;
}

static void range_forgotten(void *device, const struct suballoc *part)
{
    suballoc_give(&((struct device *)device)->memory, NULL, part);
}

static bool ranges_forget(void *device)
{
    return mapping_forget(&((struct device *)device)->mapping);
}

static void device_begin(struct device *device, int number, int remote)
{
    device->number = number;
    pthread_mutex_init(&device->lock, NULL);
    mapping_init(&device->mapping, range_forgotten, device);
    site_init(&device->site, number, remote);
    suballocator_init(&device->memory, &device->site, ranges_forget, device);
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

int devices_make(void)
{
    int count = omprma_device_count();
    char text[ENVIRONMENT_BYTES];
    if (count <= 0)
        return 0;
    struct device *all = calloc((size_t)count, sizeof(*all));
    int *remotes = calloc((size_t)count, sizeof(*remotes));
    if (!all || !remotes) {
        report(NULL, NULL, "no host memory for the tables of %d devices", count);
        free(all);
        free(remotes);
        return 0;
    }
    int made = environment_devices(remotes, devices_find(remotes, count), text);
    if (made < 0) {
        report(NULL, NULL, "%s", text);
        report_fatal(NULL);
    }
    for (int i = 0; i < made; i++)
        device_begin(&all[i], i, remotes[i]);
    free(remotes);
    devices.all = all;
    devices.pid = getpid();
    pthread_atfork(NULL, NULL, note_fork);
    atomic_store(&devices.count, made);
    return made;
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
