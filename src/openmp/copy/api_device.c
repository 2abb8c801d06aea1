/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* api_device.c: omp_* functions about devices, and what users may ask the runtime to print. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omprma_private/uid.h>

#include "openmp/abi/exports.h"
#include "openmp/device/device.h"
#include "openmp/device/devices.h"
#include "openmp/device/info.h"
#include "openmp/image/choice.h"
#include "openmp/image/start.h"
#include "openmp/site/policy.h"
#include "openmp/site/report.h"

static int device_count(void)
{
    return policy_wishes_off() ? 0 : devices_start();
}

int omp_get_num_devices(void)
{
    device_host_asked(HOST_AS_COUNT);
    return device_count();
}

/* libomp asks where a program has asked it for the number of devices, or for the host's. */
int __tgt_get_num_devices(void)
{
    device_host_asked(HOST_AS_COUNT);
    return device_count();
}

/* The host's number is the one after the last device. */
static int host_number(void)
{
    device_host_asked(HOST_AS_DEVICE);
    return device_count();
}

int omp_get_initial_device(void)
{
    return host_number();
}

int omp_get_device_num(void)
{
    return host_number(); /* whoever calls this library is on the host */
}

/* ---- names ---------------------------------------------------------------------------------- */

static const char host_uid[] = "HOST";

const char *omp_get_uid_from_device(int number)
{
    static _Thread_local char uid[OMPRMA_UID_BYTES];
    struct device *device = device_at(number);
    if (device_is_host(number))
        return host_uid;
    if (!device)
        return NULL;
    omprma_uid(device->site.remote, uid);
    return uid;
}

int omp_get_device_from_uid(const char *wanted)
{
    int count = device_count();
    char uid[OMPRMA_UID_BYTES];
    if (!wanted)
        return DEVICE_INVALID;
    if (strcmp(wanted, host_uid) == 0)
        return host_number();
    for (int i = 0; i < count; i++) {
        omprma_uid(device_at(i)->site.remote, uid);
        if (strcmp(uid, wanted) == 0)
            return i;
    }
    return DEVICE_INVALID;
}

void __tgt_set_info_flag(uint32_t flags)
{
    info_set(flags);
}

int __tgt_print_device_info(int64_t id)
{
    struct device *device;
    omprma_device_info_t info;
    if (device_of_function_bare((int)id, &device) != CHOICE_DEVICE)
        return ABI_FAIL;
    bool right = report_status(NULL, omprma_device_info(device->site.remote, &info));
    if (right)
        printf("    omprma worker on %s, process %d: %s, %d cores, %llu MiB memory, "
               "one-sided component %s\n",
               info.host, info.pid, info.model, info.cores,
               (unsigned long long)(info.memory_bytes >> 20), info.osc);
    device_leave();
    return right ? ABI_OK : ABI_FAIL;
}

void ompx_dump_mapping_tables(void)
{
    int count = devices_started();
    for (int i = 0; i < count; i++) {
        struct device *device = device_at(i);
        pthread_mutex_lock(&device->space->lock);
        info_table(NULL, i, &device->space->mapping);
        pthread_mutex_unlock(&device->space->lock);
    }
}
