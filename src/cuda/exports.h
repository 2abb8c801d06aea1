/*
 * exports.h: all functions that programs call by name; they are the only symbols that the library
 * exports. What they do is said in the manual of the CUDA driver interface; what they do not is in
 * docs/cuda.md. Names that end in _v2 and so on are what the header of CUDA turns the plain names
 * into; a plain name beside them is there where its first form takes the same arguments.
 */
#ifndef OMPRMA_CUDA_EXPORTS_H
#define OMPRMA_CUDA_EXPORTS_H

#include "cuda/abi.h"

/* ---- driver.c ---- */
CU_EXPORT CUresult cuInit(unsigned flags);
CU_EXPORT CUresult cuDriverGetVersion(int *version);

/* ---- gpu.c ---- */
CU_EXPORT CUresult cuDeviceGetCount(int *count);
CU_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal);
CU_EXPORT CUresult cuDeviceGetName(char *name, int bytes, CUdevice device);
CU_EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
CU_EXPORT CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device);
CU_EXPORT CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device);
CU_EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device);
CU_EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CU_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CU_EXPORT CUresult cuDeviceGetPCIBusId(char *text, int bytes, CUdevice device);
CU_EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text);
CU_EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer);
CU_EXPORT CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice device,
                                           CUdevice peer);

/* ---- context.c ---- */
CU_EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CU_EXPORT CUresult cuCtxCreate_v3(CUcontext *context, const void *affinity, int count,
                                  unsigned flags, CUdevice device);
CU_EXPORT CUresult cuCtxCreate_v4(CUcontext *context, const void *parameters, unsigned flags,
                                  CUdevice device);
CU_EXPORT CUresult cuCtxDestroy_v2(CUcontext context);
CU_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CU_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CU_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CU_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
CU_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device);
CU_EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags);
CU_EXPORT CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags);
CU_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active);
CU_EXPORT CUresult cuCtxSetCurrent(CUcontext context);
CU_EXPORT CUresult cuCtxGetCurrent(CUcontext *context);
CU_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context);
CU_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context);
CU_EXPORT CUresult cuCtxGetDevice(CUdevice *device);
CU_EXPORT CUresult cuCtxGetFlags(unsigned *flags);
CU_EXPORT CUresult cuCtxGetId(CUcontext context, unsigned long long *number);
CU_EXPORT CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version);
CU_EXPORT CUresult cuCtxSynchronize(void);
CU_EXPORT CUresult cuCtxGetLimit(size_t *value, int limit);
CU_EXPORT CUresult cuCtxSetLimit(int limit, size_t value);
CU_EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
CU_EXPORT CUresult cuCtxSetCacheConfig(int config);
CU_EXPORT CUresult cuCtxGetCacheConfig(int *config);
CU_EXPORT CUresult cuCtxSetSharedMemConfig(int config);
CU_EXPORT CUresult cuCtxGetSharedMemConfig(int *config);

/* ---- stream.c ---- */
CU_EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority);
CU_EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags);
CU_EXPORT CUresult cuStreamDestroy_v2(CUstream stream);
CU_EXPORT CUresult cuStreamSynchronize(CUstream stream);
CU_EXPORT CUresult cuStreamQuery(CUstream stream);
CU_EXPORT CUresult cuStreamGetFlags(CUstream stream, unsigned *flags);
CU_EXPORT CUresult cuStreamGetPriority(CUstream stream, int *priority);
CU_EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext *context);
CU_EXPORT CUresult cuStreamGetId(CUstream stream, unsigned long long *number);
CU_EXPORT CUresult cuStreamIsCapturing(CUstream stream, int *status);

/* ---- event.c ---- */
CU_EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags);
CU_EXPORT CUresult cuEventDestroy_v2(CUevent event);
CU_EXPORT CUresult cuEventDestroy(CUevent event);
CU_EXPORT CUresult cuEventRecord(CUevent event, CUstream stream);
CU_EXPORT CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);
CU_EXPORT CUresult cuEventQuery(CUevent event);
CU_EXPORT CUresult cuEventSynchronize(CUevent event);
CU_EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CU_EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
CU_EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end);

/* ---- host_call.c ---- */
CU_EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data);
CU_EXPORT CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data,
                                       unsigned flags);

/* ---- memory.c ---- */
CU_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
CU_EXPORT CUresult cuMemFree_v2(CUdeviceptr address);
CU_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream);
CU_EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CU_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width_bytes,
                                      size_t height, unsigned element_bytes);
CU_EXPORT CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
CU_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *begin, size_t *bytes, CUdeviceptr address);
CU_EXPORT CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address);

/* ---- host_memory.c ---- */
CU_EXPORT CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags);
CU_EXPORT CUresult cuMemAllocHost_v2(void **memory, size_t bytes);
CU_EXPORT CUresult cuMemAllocHost(void **memory, size_t bytes);
CU_EXPORT CUresult cuMemFreeHost(void *memory);
CU_EXPORT CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags);
CU_EXPORT CUresult cuMemHostRegister(void *memory, size_t bytes, unsigned flags);
CU_EXPORT CUresult cuMemHostUnregister(void *memory);
CU_EXPORT CUresult cuMemHostGetFlags(unsigned *flags, void *memory);

/* ---- copy.c ---- */
CU_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
CU_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                                        CUstream stream);
CU_EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
CU_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
CU_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                        CUstream stream);
CU_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CU_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                     CUcontext from_context, size_t bytes, CUstream stream);
CU_EXPORT CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                CUcontext from_context, size_t bytes);
CU_EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CU_EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);

/* ---- rectangle.c ---- */
CU_EXPORT CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy);
CU_EXPORT CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy);
CU_EXPORT CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream);

/* ---- fill.c ---- */
CU_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                                   CUstream stream);
CU_EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                                    CUstream stream);
CU_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream);
CU_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
CU_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count);
CU_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count);
CU_EXPORT CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value,
                                     size_t width, size_t height, CUstream stream);
CU_EXPORT CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value,
                                      size_t width, size_t height, CUstream stream);
CU_EXPORT CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                      size_t height, CUstream stream);
CU_EXPORT CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                                   size_t height);
CU_EXPORT CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value,
                                    size_t width, size_t height);
CU_EXPORT CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                    size_t height);

/* ---- module.c ---- */
CU_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image);
CU_EXPORT CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image);
CU_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                                      int *options, void **values);
CU_EXPORT CUresult cuModuleLoad(CUmodule *module, const char *path);
CU_EXPORT CUresult cuModuleUnload(CUmodule module);
CU_EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CU_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                                        const char *name);
CU_EXPORT CUresult cuModuleGetLoadingMode(int *mode);

/* ---- link.c ---- */
CU_EXPORT CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, CUlinkState *link);
CU_EXPORT CUresult cuLinkCreate(unsigned count, int *options, void **values, CUlinkState *link);
CU_EXPORT CUresult cuLinkAddData_v2(CUlinkState link, int type, void *data, size_t bytes,
                                    const char *name, unsigned count, int *options, void **values);
CU_EXPORT CUresult cuLinkAddData(CUlinkState link, int type, void *data, size_t bytes,
                                 const char *name, unsigned count, int *options, void **values);
CU_EXPORT CUresult cuLinkComplete(CUlinkState link, void **cubin, size_t *bytes);
CU_EXPORT CUresult cuLinkDestroy(CUlinkState link);

/* ---- function.c ---- */
CU_EXPORT CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function);
CU_EXPORT CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value);
CU_EXPORT CUresult cuFuncSetCacheConfig(CUfunction function, int config);
CU_EXPORT CUresult cuFuncSetSharedMemConfig(CUfunction function, int config);
CU_EXPORT CUresult cuFuncGetModule(CUmodule *module, CUfunction function);
CU_EXPORT CUresult cuFuncGetName(const char **name, CUfunction function);
CU_EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset,
                                      size_t *bytes);
CU_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                               int threads, size_t shared_bytes);
CU_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, CUfunction function, int threads, size_t shared_bytes, unsigned flags);
CU_EXPORT CUresult cuOccupancyMaxPotentialBlockSize(int *blocks, int *threads, CUfunction function,
                                                    CUoccupancyB2DSize shared, size_t shared_bytes,
                                                    int limit);
CU_EXPORT CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *blocks, int *threads,
                                                             CUfunction function,
                                                             CUoccupancyB2DSize shared,
                                                             size_t shared_bytes, int limit,
                                                             unsigned flags);

/* ---- launch.c ---- */
CU_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                  unsigned grid_z, unsigned block_x, unsigned block_y,
                                  unsigned block_z, unsigned shared_bytes, CUstream stream,
                                  void **pointers, void **extra);
CU_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                                    void **pointers, void **extra);

/* ---- refused.c ---- */
CU_EXPORT CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags);
CU_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory, unsigned flags);
CU_EXPORT CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *memory, unsigned flags);
CU_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags);
CU_EXPORT CUresult cuCtxDisablePeerAccess(CUcontext peer);
CU_EXPORT CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment,
                                       CUdeviceptr wanted, unsigned long long flags);
CU_EXPORT CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes);
CU_EXPORT CUresult cuMemCreate(unsigned long long *handle, size_t bytes, const void *properties,
                               unsigned long long flags);
CU_EXPORT CUresult cuMemRelease(unsigned long long handle);
CU_EXPORT CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                            unsigned long long handle, unsigned long long flags);
CU_EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t bytes);
CU_EXPORT CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const void *access,
                                  size_t count);
CU_EXPORT CUresult cuMemGetAllocationGranularity(size_t *granularity, const void *properties,
                                                 int option);
CU_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                             unsigned grid_z, unsigned block_x, unsigned block_y,
                                             unsigned block_z, unsigned shared_bytes,
                                             CUstream stream, void **pointers);

/* ---- names.c ---- */
CU_EXPORT CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
                                       uint64_t flags, int *status);
CU_EXPORT CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags);
CU_EXPORT CUresult cuGetExportTable(const void **table, const CUuuid *id);

/* ---- result.c ---- */
CU_EXPORT CUresult cuGetErrorName(CUresult result, const char **name);
CU_EXPORT CUresult cuGetErrorString(CUresult result, const char **text);

/* ---- per_thread.c ---- */
CU_EXPORT CUresult cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                      CUstream stream);
CU_EXPORT CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                          CUcontext from_context, size_t bytes, CUstream stream);
CU_EXPORT CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from, size_t bytes,
                                             CUstream stream);
CU_EXPORT CUresult cuMemcpyDtoHAsync_v2_ptsz(void *to, CUdeviceptr from, size_t bytes,
                                             CUstream stream);
CU_EXPORT CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                             CUstream stream);
CU_EXPORT CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream);
CU_EXPORT CUresult cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, size_t count,
                                        CUstream stream);
CU_EXPORT CUresult cuMemsetD16Async_ptsz(CUdeviceptr to, unsigned short value, size_t count,
                                         CUstream stream);
CU_EXPORT CUresult cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned value, size_t count,
                                         CUstream stream);
CU_EXPORT CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr to, size_t pitch, unsigned char value,
                                          size_t width, size_t height, CUstream stream);
CU_EXPORT CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr to, size_t pitch, unsigned short value,
                                           size_t width, size_t height, CUstream stream);
CU_EXPORT CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr to, size_t pitch, unsigned value,
                                           size_t width, size_t height, CUstream stream);
CU_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *address, size_t bytes, CUstream stream);
CU_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream);
CU_EXPORT CUresult cuStreamGetPriority_ptsz(CUstream stream, int *priority);
CU_EXPORT CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned *flags);
CU_EXPORT CUresult cuStreamGetId_ptsz(CUstream stream, unsigned long long *number);
CU_EXPORT CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext *context);
CU_EXPORT CUresult cuStreamIsCapturing_ptsz(CUstream stream, int *status);
CU_EXPORT CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned flags);
CU_EXPORT CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback callback, void *data,
                                            unsigned flags);
CU_EXPORT CUresult cuStreamQuery_ptsz(CUstream stream);
CU_EXPORT CUresult cuStreamSynchronize_ptsz(CUstream stream);
CU_EXPORT CUresult cuEventRecord_ptsz(CUevent event, CUstream stream);
CU_EXPORT CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned flags);
CU_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y,
                                       unsigned grid_z, unsigned block_x, unsigned block_y,
                                       unsigned block_z, unsigned shared_bytes, CUstream stream,
                                       void **pointers, void **extra);
CU_EXPORT CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void *data);
CU_EXPORT CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned grid_x,
                                                  unsigned grid_y, unsigned grid_z,
                                                  unsigned block_x, unsigned block_y,
                                                  unsigned block_z, unsigned shared_bytes,
                                                  CUstream stream, void **pointers);
CU_EXPORT CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CU_EXPORT CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                     CUcontext from_context, size_t bytes);
CU_EXPORT CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t bytes);
CU_EXPORT CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes);
CU_EXPORT CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CU_EXPORT CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *copy);
CU_EXPORT CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *copy);
CU_EXPORT CUresult cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value, size_t count);
CU_EXPORT CUresult cuMemsetD16_v2_ptds(CUdeviceptr to, unsigned short value, size_t count);
CU_EXPORT CUresult cuMemsetD32_v2_ptds(CUdeviceptr to, unsigned value, size_t count);
CU_EXPORT CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr to, size_t pitch, unsigned char value,
                                        size_t width, size_t height);
CU_EXPORT CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr to, size_t pitch, unsigned short value,
                                         size_t width, size_t height);
CU_EXPORT CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                         size_t height);
CU_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function,
                                         void **pointers, void **extra);

#endif
