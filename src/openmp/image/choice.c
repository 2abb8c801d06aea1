/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* choice.c: libomp says which device is the default, and whether there are to be any. */
#include "openmp/image/choice.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <omprma_private/say.h>
#include <omprma_private/share.h>

#include "face/gate.h"
#include "openmp/abi/libomp.h"
#include "openmp/device/devices.h"
#include "openmp/device/environment.h"
#include "openmp/device/info.h"
#include "openmp/image/registry.h"
#include "openmp/image/start.h"
#include "openmp/site/policy.h"
#include "openmp/site/report.h"
#include "openmp/tool/ompt.h"

static int64_t default_device(void)
{
    return omp_get_default_device ? omp_get_default_device() : 0;
}

int device_number(int64_t id)
{
    if (policy_is_disabled() || devices_forked())
        return -1;
    int count = devices_start();
    if (id == DEVICE_HOST)
        id = default_device();
    return id >= 0 && id < count ? (int)id : -1;
}

bool device_is_host(int number)
{
    return number == DEVICE_HOST || number == (policy_is_disabled() ? 0 : devices_start());
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
    char host[128] = "", share[CLAUSE_BYTES], why[64] = "";
    bool placed = devices_are_placed();
    if (wish->id == DEVICE_INVALID) {
        report(wish->where, NULL,
               "device %d is omp_invalid_device: give the number of a device, or that of the host "
               "(omp_initial_device)",
               DEVICE_INVALID);
        return;
    }
    if (count == 0) {
        report(wish->where, NULL,
               "there is no device for this: the program has no workers, and "
               "OMP_TARGET_OFFLOAD=MANDATORY keeps the host from computing it");
        return;
    }
    if (wish->id == count)
        snprintf(host, sizeof(host), "; if the host is meant, %s",
                 is_environments(wish) ? "set OMP_TARGET_OFFLOAD=disabled"
                                       : "take its number from omp_get_initial_device()");
    if (placed)
        snprintf(why, sizeof(why), " (%s=%s)", devices_placed_by(), devices_placement());
    omprma_share(share, sizeof(share));
    report(wish->where, NULL, "%sthere is no device %lld, only %d device%s, from 0 on%s%s%s",
           is_environments(wish) ? "OMP_DEFAULT_DEVICE: " : "", (long long)wish->id, count,
           count == 1 ? "" : "s", why, share, host);
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
    int asked = environment_names_host() ? HOST_AS_DEVICE
                                         : atomic_load_explicit(&host_asked, memory_order_relaxed);
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
    if (wish->id != DEVICE_INVALID && policy_is_disabled())
        return CHOICE_HOST;
    int count = devices_made();
    if (count == 0)
        count = devices_start();
    ompt_connect(); /* libomp, which counts devices when it starts, has started */
    if (wish->id == DEVICE_HOST)
        return CHOICE_HOST;
    if (count == 0 && wish->id != DEVICE_INVALID && !policy_is_mandatory())
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
    if (devices_forked()) { /* locks and tables are as other threads of the parent left them */
        omprma_init();      /* fails, and says why */
        report(wish->where, NULL, "%s", omprma_error());
        return CHOICE_FAILED;
    }
    if (!gate_enter())
        return choose_ended();
    *device = device_at((int)wish->id);
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
    pthread_mutex_lock(&device->space->lock);
    info_table(where, device->number, &device->space->mapping);
    pthread_mutex_unlock(&device->space->lock);
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
