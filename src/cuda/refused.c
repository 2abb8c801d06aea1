/*
 * refused.c: what cannot be had of a GPU in another process: memory that host and device share,
 * kernels of one GPU in another's memory, address space without memory. Attributes of the device
 * say so beforehand (gpu.c). Each name is there because runtimes look it up before they know
 * whether they need it.
 */
#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/result.h"

static CUresult refuse(const char *name)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS) {
        report_choice("%s: not supported on GPUs of workers; the device's attributes say so", name);
        result = CUDA_ERROR_NOT_SUPPORTED;
    }
    return api_end(&call, result);
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    (void)address, (void)bytes, (void)flags;
    return refuse("cuMemAllocManaged");
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory, unsigned flags)
{
    (void)address, (void)memory, (void)flags;
    return refuse("cuMemHostGetDevicePointer");
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *memory, unsigned flags)
{
    return cuMemHostGetDevicePointer_v2(address, memory, flags);
}

/* ---- peers ---------------------------------------------------------------------------------- */

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    struct call call;
    CUresult result = api_begin(&call);

    (void)peer, (void)flags;
    if (result == CUDA_SUCCESS)
        result = CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    return api_end(&call, result);
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    struct call call;
    CUresult result = api_begin(&call);

    (void)peer;
    if (result == CUDA_SUCCESS)
        result = CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    return api_end(&call, result);
}

/* ---- address space without memory ----------------------------------------------------------- */

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags)
{
    (void)address, (void)bytes, (void)alignment, (void)wanted, (void)flags;
    return refuse("cuMemAddressReserve");
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    (void)address, (void)bytes;
    return refuse("cuMemAddressFree");
}

CUresult cuMemCreate(unsigned long long *handle, size_t bytes, const void *properties,
                     unsigned long long flags)
{
    (void)handle, (void)bytes, (void)properties, (void)flags;
    return refuse("cuMemCreate");
}

CUresult cuMemRelease(unsigned long long handle)
{
    (void)handle;
    return refuse("cuMemRelease");
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, unsigned long long handle,
                  unsigned long long flags)
{
    (void)address, (void)bytes, (void)offset, (void)handle, (void)flags;
    return refuse("cuMemMap");
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    (void)address, (void)bytes;
    return refuse("cuMemUnmap");
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const void *access, size_t count)
{
    (void)address, (void)bytes, (void)access, (void)count;
    return refuse("cuMemSetAccess");
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const void *properties, int option)
{
    (void)granularity, (void)properties, (void)option;
    return refuse("cuMemGetAllocationGranularity");
}

/* ---- kernels that wait for each other ------------------------------------------------------- */

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream,
                                   void **pointers)
{
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
    (void)block_z, (void)shared_bytes, (void)stream, (void)pointers;
    return refuse("cuLaunchCooperativeKernel");
}
