/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device.c: see device.h.
 *
 * The end: programs and libraries need this library by name, so that all their destructors, which
 * unregister their images, come before the one below. Only libraries that were opened late and
 * never closed end later, and then this one does, too late for MPI: so omprma has ended before
 * (face/ending.h), and the destructors of their devices' variables have run.
 */
#include "openmp/device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "face/ending.h"
#include "face/gate.h"
#include "openmp/libomp.h"
#include "openmp/number.h"
#include "openmp/ompt.h"
#include "openmp/place.h"
#include "openmp/registry.h"
#include "openmp/report.h"

static struct devices {
    pthread_once_t once;
    atomic_int count; /* written inside once */
    struct device *all;
    pid_t pid;   /* of the process that started omprma: a child must not end it, */
    bool forked; /* which this one is */
} devices = {.once = PTHREAD_ONCE_INIT};

static void range_forgotten(void *device, const struct share *share)
{
    share_give(device, NULL, share);
}

/* Of those that run code for this kind of machine. Their number; 0: none, or no memory. */
static int devices_make(int count)
{
    struct device *all = calloc((size_t)count, sizeof(*all));
    int made = 0;

    if (!all) {
        report(NULL, NULL, "no host memory for the tables of %d devices", count);
        return 0;
    }
    for (int i = 0; i < count; i++) {
        struct device *device = &all[made];
        omprma_device_info_t info;
        if (omprma_device_info(i, &info) != OMPRMA_OK || strcmp(info.backend, "cuda") == 0)
            continue;
        device->number = made++;
        device->remote = i;
        device->shared_count = info.lanes < 1             ? 1
                               : info.lanes < SHARED_MOST ? info.lanes
                                                          : SHARED_MOST;
        memcpy(device->host, info.host, sizeof(device->host));
        pthread_mutex_init(&device->lock, NULL);
        pthread_mutex_init(&device->load_lock, NULL);
        mapping_init(&device->mapping, range_forgotten, device);
    }
    devices.all = all;
    return made;
}

__attribute__((destructor)) static void devices_end(void)
{
    int count = atomic_load(&devices.count);
    if (count == 0 || devices.pid != getpid() || gate_closed() || !gate_close())
        return;
    registry_clear(count);
    ompt_devices_end();
    omprma_finalize();
}

static void note_fork(void)
{
    devices.forked = true;
}

/* For workers that were started before anybody knew what this program is. A program that was not
 * compiled to lie anywhere has an address of its own for the function. */
static void libomp_tell(void)
{
    Dl_info info;
    if (omp_get_num_threads && dladdr((void *)omp_get_num_threads, &info) &&
        *info.dli_fname == '/' && strstr(info.dli_fname, "/libomp.so"))
        setenv("OMPRMA_INTERNAL_LIBOMP", info.dli_fname, 1);
}

static void start_once(void)
{
    static struct ending ending = {.call = devices_end};
    if (!gate_open()) {
        report(NULL, NULL, "no key for data of threads is left in this process");
        return;
    }
    ending_add(&ending);
    ompt_prepare();
    libomp_tell();
    if (omprma_init() != OMPRMA_OK) {
        report_start();
        return;
    }
    place_open();
    devices.pid = getpid();
    pthread_atfork(NULL, NULL, note_fork);
    int count = omprma_device_count();
    if (count > 0)
        atomic_store(&devices.count, devices_make(count));
}

int devices_start(void)
{
    if (gate_closed())
        return 0;
    pthread_once(&devices.once, start_once);
    return atomic_load_explicit(&devices.count, memory_order_relaxed);
}

int devices_started(void)
{
    return gate_closed() ? 0 : atomic_load(&devices.count);
}

bool devices_forked(void)
{
    return devices.forked;
}

bool devices_ended(void)
{
    return gate_closed();
}

struct device *device_at(int number)
{
    return number >= 0 && number < atomic_load(&devices.count) ? &devices.all[number] : NULL;
}

/* ---- choice --------------------------------------------------------------------------------- */

static int offload_policy(void)
{
    return __kmpc_get_target_offload ? __kmpc_get_target_offload() : OFFLOAD_DEFAULT;
}

bool devices_disabled(void)
{
    return offload_policy() == OFFLOAD_DISABLED;
}

bool devices_mandatory(void)
{
    return offload_policy() == OFFLOAD_MANDATORY;
}

int device_number(int64_t id)
{
    if (devices_disabled() || devices.forked)
        return -1;
    int count = devices_start();
    id = number_means(id, count);
    return id >= 0 && id < count ? (int)id : -1;
}

/* The process ends: what its last thread has left to do is the host's, others wait for the end. */
static enum choice choose_ended(void)
{
    bool elsewhere = gate_ends_elsewhere();
    gate_hold();
    return elsewhere ? CHOICE_FAILED : CHOICE_HOST;
}

enum choice device_choose_bare(int64_t id, const struct location *where, struct device **device)
{
    if (devices_disabled())
        return CHOICE_HOST;
    if (gate_closed() && !gate_is_inside())
        return choose_ended();
    int count = atomic_load_explicit(&devices.count, memory_order_acquire);
    if (count == 0)
        count = devices_start();
    ompt_connect(); /* libomp, which counts devices when it starts, has started */
    id = number_means(id, count);
    if (id == NUMBER_HOST || (count == 0 && offload_policy() != OFFLOAD_MANDATORY))
        return CHOICE_HOST;
    if (id < 0 || id >= count) {
        number_report(where, id, count);
        return CHOICE_FAILED;
    }
    if (devices.forked) { /* locks and tables are as other threads of the parent left them */
        omprma_init();    /* fails, and says why */
        report(where, NULL, "%s", omprma_error());
        return CHOICE_FAILED;
    }
    if (!gate_enter())
        return choose_ended();
    *device = &devices.all[id];
    return CHOICE_DEVICE;
}

enum choice device_choose(int64_t id, const struct location *where, struct device **device)
{
    enum choice choice = device_choose_bare(id, where, device);
    if (choice == CHOICE_DEVICE && !device_is_lost(*device) && !registry_prepare(*device, where) &&
        !device_is_lost(*device)) {
        gate_leave();
        choice = CHOICE_FAILED;
    }
    return choice;
}

void device_leave(void)
{
    gate_leave();
}

static void outcome_table(const struct location *where, struct device *device)
{
    if (!device || !info_wants(INFO_TABLE))
        return;
    pthread_mutex_lock(&device->lock);
    info_table(where, device->number, &device->mapping);
    pthread_mutex_unlock(&device->lock);
}

/* With OMP_TARGET_OFFLOAD=DEFAULT the host takes over only where there is no device at all: data
 * that is on a device cannot be had on the host. */
int outcome(bool right, const struct location *where, struct device *device)
{
    outcome_table(where, device);
    if (right)
        return ABI_OK;
    gate_hold();
    if (!gate_closed() && !gate_ends_elsewhere())
        report_fatal(where);
    return ABI_FAIL;
}
