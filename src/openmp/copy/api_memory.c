/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * api_memory.c: omp_* functions for device memory and for what corresponds to what. The host's
 * number is the initial device; there they are malloc() and free().
 */
#include <stdlib.h>

#include "openmp/abi/exports.h"
#include "openmp/device/allocated.h"
#include "openmp/device/device.h"
#include "openmp/device/devices.h"
#include "openmp/device/losses.h"
#include "openmp/device/owner.h"
#include "openmp/image/choice.h"
#include "openmp/place/placement.h"
#include "openmp/place/variables.h"
#include "openmp/site/loss.h"
#include "openmp/site/report.h"
#include "openmp/tool/ompt.h"

static omprma_addr_t take(struct device *device, size_t bytes)
{
    omprma_addr_t address = 0;
    if (!placement_give("omp_target_alloc"))
        return 0;
    owner_watch();
    pthread_mutex_lock(&device->space->lock);
    bool right = report_status(NULL, suballoc_take_other(&device->space->memory, bytes, &address));
    if (right && placement_is_on() && !allocated_add(device->space, address, bytes)) {
        report(NULL, &device->site, "no host memory for a block of omp_target_alloc");
        omprma_free(device->site.remote, address);
        address = 0;
    }
    pthread_mutex_unlock(&device->space->lock);
    return address;
}

void *omp_target_alloc(size_t bytes, int number)
{
    struct device *device;
    omprma_addr_t address = 0;
    enum choice choice = device_of_function_bare(number, &device);
    if (bytes == 0 && choice != CHOICE_DEVICE)
        return NULL;
    if (choice == CHOICE_HOST)
        return malloc(bytes);
    if (choice == CHOICE_FAILED)
        return NULL;
    if (!loss_refuses("omp_target_alloc", &device_living(device)->site))
        address = take(device, bytes);
    ompt_call(device->number, __builtin_return_address(0), false);
    if (address)
        ompt_memory(OMPT_ALLOC, device->number, NULL, address, bytes);
    ompt_end();
    device_leave();
    return (void *)(uintptr_t)address;
}

void omp_target_free(void *address, int number)
{
    struct device *device;
    if (!address)
        return;
    enum choice choice = device_of_function_bare(number, &device);
    if (choice == CHOICE_HOST && !devices_ended())
        free(address);
    if (choice != CHOICE_DEVICE)
        return;
    ompt_call(device->number, __builtin_return_address(0), false);
    ompt_memory(OMPT_DELETE, device->number, NULL, (uintptr_t)address, 0);
    ompt_end();
    pthread_mutex_lock(&device->space->lock);
    allocated_remove(device->space, (uintptr_t)address);
    pthread_mutex_unlock(&device->space->lock);
    report_status(NULL, omprma_free(device->site.remote, (omprma_addr_t)(uintptr_t)address));
    device_leave(); /* a wrong address harms nobody: the line is enough */
}

/* ---- what is mapped ------------------------------------------------------------------------- */

/* The device address for a host address. */
static omprma_addr_t address_of(struct device *device, const void *host)
{
    struct mapped *mapped;
    owner_watch();
    pthread_mutex_lock(&device->space->lock);
    if (!placement_is_on())
        variables_turn_to(&placement_last()->site);
    bool inside =
        mapping_find(&device->space->mapping, (uintptr_t)host, 1, &mapped) == OVERLAP_INSIDE;
    omprma_addr_t address = inside ? mapped_address(mapped, (uintptr_t)host) : 0;
    pthread_mutex_unlock(&device->space->lock);
    return address;
}

void *omp_get_mapped_ptr(const void *host, int number)
{
    struct device *device;
    if (!host)
        return NULL;
    enum choice choice = device_of_function(number, &device);
    if (choice == CHOICE_HOST)
        return (void *)host;
    if (choice == CHOICE_FAILED)
        return NULL;
    omprma_addr_t address =
        variables_give(device->space, host, "omp_get_mapped_ptr") ? address_of(device, host) : 0;
    device_leave();
    return (void *)(uintptr_t)address;
}

int omp_target_is_present(const void *host, int number)
{
    struct device *device;
    enum choice choice = host ? device_of_function(number, &device) : CHOICE_FAILED;
    if (choice != CHOICE_DEVICE)
        return choice == CHOICE_HOST;
    bool present = address_of(device, host) != 0;
    device_leave();
    return present;
}

/* A worker sees nothing of the program's memory. */
int omp_target_is_accessible(const void *host, size_t bytes, int number)
{
    struct device *device;
    (void)bytes;
    enum choice choice = device_of_function_bare(number, &device);
    if (choice == CHOICE_DEVICE)
        device_leave();
    return host && choice == CHOICE_HOST;
}

/* ---- associations --------------------------------------------------------------------------- */

static bool associate(struct device *device, uintptr_t host, omprma_addr_t address, size_t bytes)
{
    struct mapped *mapped;
    enum overlap overlap = mapping_find(&device->space->mapping, host, bytes, &mapped);
    if (overlap == OVERLAP_INSIDE && mapped->references == COUNT_INFINITE &&
        mapped->begin == host && mapped->end == host + bytes && mapped->device == address)
        return true;
    if (overlap != OVERLAP_NONE)
        return report(NULL, &device->site,
                      "omp_target_associate_ptr: the host range of %zu bytes at %p corresponds to "
                      "other device memory already; disassociate or unmap that first",
                      bytes, (void *)host);
    mapped = mapping_add(&device->space->mapping, host, bytes, address, false);
    if (!mapped)
        return report(NULL, &device->site, "no host memory to associate a range");
    mapped->references = COUNT_INFINITE;
    return true;
}

int omp_target_associate_ptr(const void *host, const void *address, size_t bytes, size_t offset,
                             int number)
{
    struct device *device;
    if (!host || !address || bytes == 0) {
        report(NULL, NULL, "omp_target_associate_ptr: neither pointer may be NULL, nor the size 0");
        return ABI_FAIL;
    }
    if (bytes > UINTPTR_MAX - (uintptr_t)host) {
        report(NULL, NULL, "omp_target_associate_ptr: %zu bytes at %p are beyond all memory", bytes,
               host);
        return ABI_FAIL;
    }
    enum choice choice = device_of_function(number, &device);
    if (choice == CHOICE_HOST)
        report(NULL, NULL, "omp_target_associate_ptr: not for the host");
    if (choice != CHOICE_DEVICE)
        return ABI_FAIL;
    bool right = placement_end("the program associates device memory (omp_target_associate_ptr)");
    pthread_mutex_lock(&device->space->lock);
    right = right &&
            associate(device, (uintptr_t)host, (omprma_addr_t)(uintptr_t)address + offset, bytes);
    pthread_mutex_unlock(&device->space->lock);
    ompt_call(device->number, __builtin_return_address(0), false);
    if (right)
        ompt_memory(OMPT_ASSOCIATE, device->number, host, (uintptr_t)address + offset, bytes);
    ompt_end();
    device_leave();
    return right ? ABI_OK : ABI_FAIL;
}

static bool disassociate(struct device *device, uintptr_t host)
{
    struct mapped *mapped;
    enum overlap overlap = mapping_find(&device->space->mapping, host, 1, &mapped);
    if (overlap == OVERLAP_INSIDE && mapped->begin == host && mapped->holds > 0) {
        report(NULL, &device->site,
               "omp_target_disassociate_ptr: %p is held by a map of something that contains it; "
               "unmap that first",
               (void *)host);
        echo_print("Trying to disassociate a pointer with a non-zero hold reference count");
        return false;
    }
    if (overlap != OVERLAP_INSIDE || mapped->begin != host || mapped->references != COUNT_INFINITE)
        return report(NULL, &device->site,
                      "omp_target_disassociate_ptr: %p was not associated by "
                      "omp_target_associate_ptr",
                      (void *)host);
    mapping_drop(&device->space->mapping, mapped);
    return true;
}

int omp_target_disassociate_ptr(const void *host, int number)
{
    struct device *device;
    if (!host) {
        report(NULL, NULL, "omp_target_disassociate_ptr: the pointer is NULL");
        return ABI_FAIL;
    }
    enum choice choice = device_of_function(number, &device);
    if (choice == CHOICE_HOST)
        report(NULL, NULL, "omp_target_disassociate_ptr: not for the host");
    if (choice != CHOICE_DEVICE)
        return ABI_FAIL;
    pthread_mutex_lock(&device->space->lock);
    bool right = disassociate(device, (uintptr_t)host);
    pthread_mutex_unlock(&device->space->lock);
    ompt_call(device->number, __builtin_return_address(0), false);
    if (right)
        ompt_memory(OMPT_DISASSOCIATE, device->number, host, 0, 0);
    ompt_end();
    device_leave();
    return right ? ABI_OK : ABI_FAIL;
}
