/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* api_device.c: omp_* functions about devices, and what users may ask the runtime to print. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/device.h"
#include "openmp/exports.h"
#include "openmp/number.h"
#include "openmp/report.h"

enum { UID_BYTES = 96, INVALID_DEVICE = -2 };

static int device_count(void)
{
    return devices_disabled() ? 0 : devices_start();
}

int omp_get_num_devices(void)
{
    return device_count();
}

int __tgt_get_num_devices(void)
{
    return device_count();
}

/* The host's number is the one after the last device. */
int omp_get_initial_device(void)
{
    number_of_host_asked();
    return device_count();
}

int omp_get_device_num(void)
{
    return device_count(); /* whoever calls this library is on the host */
}

/* A device of this host that has the number of the first of its worker begins another worker. The
 * name is the same in each run of the same workers, so that a job script may have it. */
static void uid_make(const struct device *device, char uid[UID_BYTES])
{
    omprma_device_info_t info = {.pid = 0}, other = {.pid = 0};
    int worker = 0, index = 0, pid = -1;
    omprma_device_info(device->remote, &info);
    for (int i = 0; i < device->remote; i++) {
        if (omprma_device_info(i, &other) != OMPRMA_OK || strcmp(other.host, info.host) != 0)
            continue;
        worker += pid >= 0 && other.pid != pid;
        index = other.pid == pid ? index + 1 : 0;
        pid = other.pid;
    }
    if (pid >= 0 && pid != info.pid)
        worker++;
    index = pid == info.pid ? index + 1 : 0;
    snprintf(uid, UID_BYTES, "omprma-%s-%d.%d", info.host, worker, index);
}

const char *omp_get_uid_from_device(int number)
{
    static _Thread_local char uid[UID_BYTES];
    int count = device_count();
    struct device *device = device_at(number);
    if (number == count || number == -1)
        return "HOST";
    if (!device)
        return NULL;
    uid_make(device, uid);
    return uid;
}

int omp_get_device_from_uid(const char *wanted)
{
    int count = device_count();
    char uid[UID_BYTES];
    if (!wanted)
        return INVALID_DEVICE;
    if (strcmp(wanted, "HOST") == 0)
        return count;
    for (int i = 0; i < count; i++) {
        uid_make(device_at(i), uid);
        if (strcmp(uid, wanted) == 0)
            return i;
    }
    return INVALID_DEVICE;
}

void __tgt_set_info_flag(uint32_t flags)
{
    info_set(flags);
}

int __tgt_print_device_info(int64_t id)
{
    struct device *device;
    omprma_device_info_t info;
    if (device_choose_bare(id, NULL, &device) != CHOICE_DEVICE)
        return ABI_FAIL;
    bool right = report_status(NULL, device, omprma_device_info(device->remote, &info));
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
        pthread_mutex_lock(&device->lock);
        info_table(NULL, i, &device->mapping);
        pthread_mutex_unlock(&device->lock);
    }
}
