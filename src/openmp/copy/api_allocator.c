/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * api_allocator.c: what libomp's allocators for device memory, and programs of LLVM's, call. Memory
 * that host and device share cannot be had on a remote device; locked memory is where it was.
 */
#include <stdlib.h>

#include "openmp/abi/exports.h"
#include "openmp/image/choice.h"
#include "openmp/site/report.h"

void *llvm_omp_target_alloc_device(size_t bytes, int device)
{
    return omp_target_alloc(bytes, device);
}

void llvm_omp_target_free_device(void *address, int device)
{
    omp_target_free(address, device);
}

/* Memory of the host that a device could read faster than other; here it is all the same. */
void *llvm_omp_target_alloc_host(size_t bytes, int device)
{
    (void)device;
    return bytes ? malloc(bytes) : NULL;
}

void llvm_omp_target_free_host(void *address, int device)
{
    (void)device;
    free(address);
}

void *llvm_omp_target_alloc_shared(size_t bytes, int device)
{
    if (device_is_host(device))
        return llvm_omp_target_alloc_host(bytes, device);
    report(NULL, NULL,
           "device %d: memory shared between host and device cannot be had on a "
           "remote device; allocate device memory and copy",
           device);
    return NULL;
}

void llvm_omp_target_free_shared(void *address, int device)
{
    llvm_omp_target_free_host(address, device);
}

void *llvm_omp_target_lock_mem(void *address, size_t bytes, int device)
{
    (void)bytes, (void)device;
    return address;
}

void llvm_omp_target_unlock_mem(void *address, int device)
{
    (void)address, (void)device;
}

/* Memory of a team, which host code has none of. */

void *llvm_omp_target_dynamic_shared_alloc(void)
{
    return NULL;
}

void *llvm_omp_get_dynamic_shared(void)
{
    return NULL;
}
