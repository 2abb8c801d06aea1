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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <omprma_private/say.h>
#include <omprma_private/share.h>

#include "face/ending.h"
#include "face/gate.h"
#include "openmp/environment.h"
#include "openmp/libomp.h"
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

static void device_begin(struct device *device, int number, int remote)
{
    device->number = number;
    pthread_mutex_init(&device->lock, NULL);
    mapping_init(&device->mapping, range_forgotten, device);
    site_init(&device->site, number, remote);
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

/* Their number; 0: none, or no memory. */
static int devices_make(int count)
{
    struct device *all = calloc((size_t)count, sizeof(*all));
    int *remotes = calloc((size_t)count, sizeof(*remotes)), made = 0;
    char text[ENVIRONMENT_BYTES];

    if (!all || !remotes) {
        report(NULL, NULL, "no host memory for the tables of %d devices", count);
        free(all);
        free(remotes);
        return 0;
    }
    made = environment_devices(remotes, devices_find(remotes, count), text);
    if (made < 0) {
        report(NULL, NULL, "%s", text);
        report_fatal(NULL);
    }
    if (environment_names_host())
        device_host_asked(HOST_AS_DEVICE);
    for (int i = 0; i < made; i++)
        device_begin(&all[i], i, remotes[i]);
    free(remotes);
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

static atomic_bool policy_known; /* libomp has answered, so it has started */

static int offload_policy(void)
{
    int policy = __kmpc_get_target_offload ? __kmpc_get_target_offload() : OFFLOAD_DEFAULT;
    atomic_store_explicit(&policy_known, true, memory_order_relaxed);
    return policy;
}

bool devices_wished_off(void)
{
    const char *wish = getenv("OMP_TARGET_OFFLOAD");
    if (atomic_load_explicit(&policy_known, memory_order_relaxed))
        return devices_disabled();
    return wish && strcasecmp(wish, "disabled") == 0;
}

bool devices_disabled(void)
{
    return offload_policy() == OFFLOAD_DISABLED;
}

bool devices_mandatory(void)
{
    return offload_policy() == OFFLOAD_MANDATORY;
}

static int64_t default_device(void)
{
    return omp_get_default_device ? omp_get_default_device() : 0;
}

int device_number(int64_t id)
{
    if (devices_disabled() || devices.forked)
        return -1;
    int count = devices_start();
    if (id == DEVICE_HOST)
        id = default_device();
    return id >= 0 && id < count ? (int)id : -1;
}

bool device_is_host(int number)
{
    return number == DEVICE_HOST || number == (devices_disabled() ? 0 : devices_start());
}

enum { CLAUSE_BYTES = 512 };

/* What a construct or a function names. */
struct wish {
    int64_t id;
    bool is_default; /* it names none, and this is the default device */
    const struct location *where;
};

static bool is_environments(const struct wish *wish)
{
    const char *value = getenv("OMP_DEFAULT_DEVICE");
    char *end;
    return wish->is_default && value && !environment_names_host() &&
           strtoll(value, &end, 10) == wish->id && end != value;
}

static void report_missing(const struct wish *wish, int count)
{
    char host[128] = "", share[CLAUSE_BYTES];
    if (wish->id == DEVICE_INVALID) {
        report(wish->where, NULL,
               "device %d is omp_invalid_device: give the number of a device, or that of the host "
               "(omp_initial_device)",
               DEVICE_INVALID);
        return;
    }
    if (wish->id == count)
        snprintf(host, sizeof(host), "; if the host is meant, %s",
                 is_environments(wish) ? "set OMP_TARGET_OFFLOAD=disabled"
                                       : "take its number from omp_get_initial_device()");
    omprma_share(share, sizeof(share));
    report(wish->where, NULL, "%sthere is no device %lld, only %d device%s, from 0 on%s%s",
           is_environments(wish) ? "OMP_DEFAULT_DEVICE: " : "", (long long)wish->id, count,
           count == 1 ? "" : "s", share, host);
}

/* The number behind the last device is the host's. It is also what a rank of a job, or a script,
 * takes that counts devices which are not there, and its work would be the host's without a word.
 * So only who has asked for that number can mean it, and who sets the environment cannot. */
static atomic_int host_asked; /* enum host_asked */

void device_host_asked(enum host_asked asked)
{
    if (atomic_load_explicit(&host_asked, memory_order_relaxed) < (int)asked)
        atomic_store(&host_asked, asked);
}

/* Nobody can tell a number of devices from a rank that is the same. */
static void warn_rank(const struct wish *wish)
{
    static atomic_bool warned;
    char share[CLAUSE_BYTES], text[CLAUSE_BYTES + 256];
    if (omprma_share(share, sizeof(share)) != wish->id || atomic_exchange(&warned, true))
        return;
    snprintf(text, sizeof(text),
             "device %lld, the number of this rank, is the host here, which computes what is to "
             "run there%s",
             (long long)wish->id, share);
    omprma_say(OMPRMA_SAY_WARNING, text);
}

static bool host_is_meant(const struct wish *wish)
{
    int asked = atomic_load_explicit(&host_asked, memory_order_relaxed);
    if (asked == HOST_NOT_ASKED || is_environments(wish))
        return false;
    if (asked == HOST_AS_COUNT)
        warn_rank(wish);
    return true;
}

/* The process ends: what its last thread has left to do is the host's, others wait for the end. */
static enum choice choose_ended(void)
{
    bool elsewhere = gate_ends_elsewhere();
    gate_hold();
    return elsewhere ? CHOICE_FAILED : CHOICE_HOST;
}

static enum choice choose(const struct wish *wish, struct device **device)
{
    if (gate_closed() && !gate_is_inside())
        return choose_ended();
    if (wish->id != DEVICE_INVALID && devices_disabled())
        return CHOICE_HOST;
    int count = atomic_load_explicit(&devices.count, memory_order_acquire);
    if (count == 0)
        count = devices_start();
    ompt_connect(); /* libomp, which counts devices when it starts, has started */
    if (wish->id == DEVICE_HOST)
        return CHOICE_HOST;
    if (count == 0 && wish->id != DEVICE_INVALID && !devices_mandatory())
        return CHOICE_HOST;
    if (wish->id == count && count > 0 && host_is_meant(wish))
        return CHOICE_HOST;
    if (ompt_is_telling()) {
        report(wish->where, NULL,
               "a callback of the tool (OMPT) uses device %lld, which OpenMP forbids: use it when "
               "the callback has returned",
               (long long)wish->id);
        return CHOICE_FAILED;
    }
    if (wish->id < 0 || wish->id >= count) {
        report_missing(wish, count);
        return CHOICE_FAILED;
    }
    if (devices.forked) { /* locks and tables are as other threads of the parent left them */
        omprma_init();    /* fails, and says why */
        report(wish->where, NULL, "%s", omprma_error());
        return CHOICE_FAILED;
    }
    if (!gate_enter())
        return choose_ended();
    *device = &devices.all[wish->id];
    return CHOICE_DEVICE;
}

enum choice device_choose_bare(int64_t id, const struct location *where, struct device **device)
{
    bool is_default = id == DEVICE_HOST;
    const struct wish wish = {is_default ? default_device() : id, is_default, where};
    return choose(&wish, device);
}

enum choice device_of_function_bare(int number, struct device **device)
{
    const struct wish wish = {.id = number};
    enum choice choice = choose(&wish, device);
    if (choice == CHOICE_FAILED && number == DEVICE_INVALID)
        report_fatal(NULL);
    return choice;
}

static enum choice with_images(enum choice choice, const struct location *where,
                               struct device *const *device)
{
    if (choice == CHOICE_DEVICE && !device_is_lost(*device) && !registry_prepare(*device, where) &&
        !device_is_lost(*device)) {
        gate_leave();
        choice = CHOICE_FAILED;
    }
    return choice;
}

enum choice device_choose(int64_t id, const struct location *where, struct device **device)
{
    return with_images(device_choose_bare(id, where, device), where, device);
}

enum choice device_of_function(int number, struct device **device)
{
    return with_images(device_of_function_bare(number, device), NULL, device);
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
