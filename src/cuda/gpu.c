/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu.c: GPUs are found once, at the start, among omprma's devices, and stay. A worker is asked for
 * all properties of one at a time; attributes are answered from them. Those that promise what
 * cannot be had of a GPU in another process are 0, whatever its driver says.
 */
#include "cuda/gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/result.h"
#include "face/driver/devices.h"

static struct gpus {
    struct gpu *all; /* written before the driver counts as started */
    int count;
    atomic_int driver_version;
} gpus;

/* ---- finding them --------------------------------------------------------------------------- */

static CUresult gpu_open(struct gpu *gpu, int ordinal, int device)
{
    gpu->ordinal = ordinal;
    gpu->device = device;
    pthread_mutex_init(&gpu->primary_lock, NULL);
    pthread_mutex_init(&gpu->helper_lock, NULL);
    blocks_open(&gpu->blocks);
    return result_of(NULL, remote_device(device, &gpu->properties));
}

CUresult gpus_find(void)
{
    int devices = omprma_device_count(), count, *numbers = devices_find("cuda", &count), found = 0;
    CUresult result = CUDA_SUCCESS;

    gpus.all = calloc((size_t)count + 1, sizeof(*gpus.all));
    if (!numbers || !gpus.all) {
        free(numbers);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (int i = 0; i < count; i++) { /* one that says nothing is left out, with its line */
        CUresult opened = gpu_open(&gpus.all[found], found, numbers[i]);
        int version = gpus.all[found].properties.driver_version;
        if (opened != CUDA_SUCCESS) {
            result = opened;
            continue;
        }
        found++;
        if (!gpus.driver_version || version < gpus.driver_version)
            gpus.driver_version = version;
    }
    free(numbers);
    gpus.count = found;
    if (found > 0)
        return CUDA_SUCCESS;
    if (count > 0)
        return result;
    report_error("no worker has an NVIDIA GPU that it can use (%d device%s of other kinds), so "
                 "programs for CUDA find none; run omprma-info -v --gpus cuda to see why",
                 devices, devices == 1 ? "" : "s");
    return CUDA_ERROR_NO_DEVICE;
}

int gpu_count(void)
{
    return gpus.count;
}

struct gpu *gpu_at(int ordinal)
{
    return ordinal >= 0 && ordinal < gpus.count ? &gpus.all[ordinal] : NULL;
}

int gpus_driver_version(void)
{
    return gpus.driver_version;
}

void gpu_lose(struct gpu *gpu, CUresult result)
{
    CUresult well = CUDA_SUCCESS;
    atomic_compare_exchange_strong(&gpu->lost, &well, result);
}

/* ---- attributes ----------------------------------------------------------------------------- */

/* What needs one address space or one bus with the GPU, or a part of the interface that is not
 * served. */
static bool cannot_be_had(int attribute)
{
    static const struct range {
        int first, last;
    } ranges[] = {
        {CU_ATTRIBUTE_INTEGRATED, CU_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
        {CU_ATTRIBUTE_UNIFIED_ADDRESSING, CU_ATTRIBUTE_UNIFIED_ADDRESSING},
        {CU_ATTRIBUTE_MANAGED_MEMORY, CU_ATTRIBUTE_MANAGED_MEMORY},
        {CU_ATTRIBUTE_HOST_NATIVE_ATOMIC, CU_ATTRIBUTE_HOST_NATIVE_ATOMIC},
        {CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, CU_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
        {CU_ATTRIBUTE_HOST_POINTER_FOR_REGISTERED, CU_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE},
        {CU_ATTRIBUTE_FLUSH_REMOTE_WRITES, CU_ATTRIBUTE_FLUSH_REMOTE_WRITES},
        {CU_ATTRIBUTE_HOST_PAGE_TABLES, CU_ATTRIBUTE_HANDLE_TYPES_LAST},
        {CU_ATTRIBUTE_COMPRESSION, CU_ATTRIBUTE_COMPRESSION},
        {CU_ATTRIBUTE_RDMA_VIRTUAL_MEMORY, CU_ATTRIBUTE_RDMA_VIRTUAL_MEMORY},
        {CU_ATTRIBUTE_SPARSE_ARRAYS, CU_ATTRIBUTE_SPARSE_ARRAYS},
        {CU_ATTRIBUTE_TIMELINE_SEMAPHORES, CU_ATTRIBUTE_IPC_EVENTS},
        {CU_ATTRIBUTE_FABRIC_HANDLES, CU_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS},
        {CU_ATTRIBUTE_MULTICAST, CU_ATTRIBUTE_MULTICAST},
        {CU_ATTRIBUTE_HOST_NUMA_FIRST, CU_ATTRIBUTE_HOST_NUMA_LAST},
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (attribute >= ranges[i].first && attribute <= ranges[i].last)
            return true;
    }
    return false;
}

int gpu_attribute(const struct gpu *gpu, int attribute)
{
    if (attribute < 1 || attribute >= CUDA_DEVICE_ATTRIBUTES || cannot_be_had(attribute))
        return 0;
    int value = gpu->properties.attributes[attribute];
    return value == CUDA_UNKNOWN ? 0 : value;
}

/* ---- exported ------------------------------------------------------------------------------- */

/* Begins a call about a GPU by its number. */
static CUresult about(struct call *call, CUdevice ordinal, const void *answer, struct gpu **gpu)
{
    CUresult result = api_begin_bare(call);
    if (result != CUDA_SUCCESS)
        return result;
    if (!answer)
        return CUDA_ERROR_INVALID_VALUE;
    *gpu = gpu_at(ordinal);
    return *gpu ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetCount(int *count)
{
    struct call call;
    CUresult result = api_begin_bare(&call);
    if (result == CUDA_SUCCESS && !count)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *count = gpus.count;
    return api_end(&call, result);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    struct call call;
    struct gpu *gpu;
    CUresult result = about(&call, ordinal, device, &gpu);
    if (result == CUDA_SUCCESS)
        *device = ordinal;
    return api_end(&call, result);
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    struct call call;
    struct gpu *gpu;
    CUresult result = about(&call, device, name, &gpu);
    if (result == CUDA_SUCCESS && bytes <= 0)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        size_t length = strnlen(gpu->properties.name, (size_t)bytes - 1);
        memcpy(name, gpu->properties.name, length);
        name[length] = 0;
    }
    return api_end(&call, result);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    struct call call;
    struct gpu *gpu;
    CUresult result = about(&call, device, bytes, &gpu);
    if (result == CUDA_SUCCESS)
        *bytes = gpu->properties.total_bytes;
    return api_end(&call, result);
}

/* The first form of the interface had 32 bits here; LLVM up to 16 asks for it with 64. */
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    return cuDeviceTotalMem_v2(bytes, device);
}

/* From gcc 13 on libgomp ends the program unless host and GPUs have one address space, which it
 * needs where a GPU calls the host back. All its copies name their direction. */
static bool insists(int attribute, const void *caller)
{
    Dl_info info;
    return attribute == CU_ATTRIBUTE_UNIFIED_ADDRESSING && dladdr(caller, &info) &&
           info.dli_fname && strstr(info.dli_fname, "/libgomp-plugin-nvptx.so");
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    const void *caller = __builtin_return_address(0);
    struct call call;
    struct gpu *gpu;
    CUresult result = about(&call, device, value, &gpu);
    if (result == CUDA_SUCCESS && attribute < 1)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *value = insists(attribute, caller) ? 1 : gpu_attribute(gpu, attribute);
    return api_end(&call, result);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    CUresult result = cuDeviceGetAttribute(major, CU_ATTRIBUTE_CAPABILITY_MAJOR, device);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetAttribute(minor, CU_ATTRIBUTE_CAPABILITY_MINOR, device);
    return result;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    struct call call;
    struct gpu *gpu;
    CUresult result = about(&call, device, uuid, &gpu);
    if (result == CUDA_SUCCESS)
        memcpy(uuid->bytes, gpu->properties.uuid, sizeof(uuid->bytes));
    return api_end(&call, result);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    return cuDeviceGetUuid(uuid, device);
}

CUresult cuDeviceGetPCIBusId(char *text, int bytes, CUdevice device)
{
    struct call call;
    struct gpu *gpu;
    CUresult result = about(&call, device, text, &gpu);
    if (result == CUDA_SUCCESS) {
        size_t needed = strlen(gpu->properties.bus_id) + 1;
        if (bytes < 0 || (size_t)bytes < needed)
            result = CUDA_ERROR_INVALID_VALUE;
        else
            memcpy(text, gpu->properties.bus_id, needed);
    }
    return api_end(&call, result);
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text)
{
    struct call call;
    CUresult result = api_begin_bare(&call);
    if (result == CUDA_SUCCESS && (!device || !text))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        result = CUDA_ERROR_INVALID_DEVICE;
        for (int i = 0; i < gpus.count && result != CUDA_SUCCESS; i++) {
            if (strcasecmp(gpus.all[i].properties.bus_id, text) == 0) {
                *device = i;
                result = CUDA_SUCCESS;
            }
        }
    }
    return api_end(&call, result);
}

/* Kernels of one GPU do not reach another's memory: not even when both are in one node, because
 * which ones are is the workers' affair. */
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    struct call call;
    struct gpu *gpu;
    CUresult result = about(&call, device, can, &gpu);
    if (result == CUDA_SUCCESS && !gpu_at(peer))
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS)
        *can = 0;
    return api_end(&call, result);
}

CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice device, CUdevice peer)
{
    (void)attribute;
    return cuDeviceCanAccessPeer(value, device, peer);
}
