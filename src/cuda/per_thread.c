/*
 * per_thread.c: the same functions for programs that are compiled so that the null stream is each
 * thread's own (CUDA_API_PER_THREAD_DEFAULT_STREAM): names that end in _ptsz take a stream, those
 * that end in _ptds none.
 */
#include "cuda/exports.h"

static CUstream of_thread(CUstream stream)
{
    return stream ? stream : CU_STREAM_PER_THREAD;
}

static CUresult settled(CUresult result)
{
    return result == CUDA_SUCCESS ? cuStreamSynchronize(CU_STREAM_PER_THREAD) : result;
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return cuMemcpyAsync(to, from, bytes, of_thread(stream));
}

CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                CUcontext from_context, size_t bytes, CUstream stream)
{
    return cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, of_thread(stream));
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    return cuMemcpyHtoDAsync_v2(to, from, bytes, of_thread(stream));
}

CUresult cuMemcpyDtoHAsync_v2_ptsz(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return cuMemcpyDtoHAsync_v2(to, from, bytes, of_thread(stream));
}

CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return cuMemcpyDtoDAsync_v2(to, from, bytes, of_thread(stream));
}

CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    return cuMemcpy2DAsync_v2(copy, of_thread(stream));
}

CUresult cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    return cuMemsetD8Async(to, value, count, of_thread(stream));
}

CUresult cuMemsetD16Async_ptsz(CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    return cuMemsetD16Async(to, value, count, of_thread(stream));
}

CUresult cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    return cuMemsetD32Async(to, value, count, of_thread(stream));
}

CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                                size_t height, CUstream stream)
{
    return cuMemsetD2D8Async(to, pitch, value, width, height, of_thread(stream));
}

CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                                 size_t height, CUstream stream)
{
    return cuMemsetD2D16Async(to, pitch, value, width, height, of_thread(stream));
}

CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                                 size_t height, CUstream stream)
{
    return cuMemsetD2D32Async(to, pitch, value, width, height, of_thread(stream));
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    return cuMemAllocAsync(address, bytes, of_thread(stream));
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream)
{
    return cuMemFreeAsync(address, of_thread(stream));
}

CUresult cuStreamGetPriority_ptsz(CUstream stream, int *priority)
{
    return cuStreamGetPriority(of_thread(stream), priority);
}

CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned *flags)
{
    return cuStreamGetFlags(of_thread(stream), flags);
}

CUresult cuStreamGetId_ptsz(CUstream stream, unsigned long long *number)
{
    return cuStreamGetId(of_thread(stream), number);
}

CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext *context)
{
    return cuStreamGetCtx(of_thread(stream), context);
}

CUresult cuStreamIsCapturing_ptsz(CUstream stream, int *status)
{
    return cuStreamIsCapturing(of_thread(stream), status);
}

CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned flags)
{
    return cuStreamWaitEvent(of_thread(stream), event, flags);
}

CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback callback, void *data,
                                  unsigned flags)
{
    return cuStreamAddCallback(of_thread(stream), callback, data, flags);
}

CUresult cuStreamQuery_ptsz(CUstream stream)
{
    return cuStreamQuery(of_thread(stream));
}

CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
    return cuStreamSynchronize(of_thread(stream));
}

CUresult cuEventRecord_ptsz(CUevent event, CUstream stream)
{
    return cuEventRecord(event, of_thread(stream));
}

CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned flags)
{
    return cuEventRecordWithFlags(event, of_thread(stream), flags);
}

CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z,
                             unsigned shared_bytes, CUstream stream, void **pointers, void **extra)
{
    return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                          of_thread(stream), pointers, extra);
}

CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void *data)
{
    return cuLaunchHostFunc(of_thread(stream), function, data);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y,
                                        unsigned grid_z, unsigned block_x, unsigned block_y,
                                        unsigned block_z, unsigned shared_bytes, CUstream stream,
                                        void **pointers)
{
    return cuLaunchCooperativeKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                     shared_bytes, of_thread(stream), pointers);
}

CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return settled(cuMemcpyAsync(to, from, bytes, CU_STREAM_PER_THREAD));
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes)
{
    return cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, CU_STREAM_PER_THREAD);
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t bytes)
{
    return settled(cuMemcpyHtoDAsync_v2(to, from, bytes, CU_STREAM_PER_THREAD));
}

CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes)
{
    return settled(cuMemcpyDtoHAsync_v2(to, from, bytes, CU_STREAM_PER_THREAD));
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return cuMemcpyDtoDAsync_v2(to, from, bytes, CU_STREAM_PER_THREAD);
}

CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *copy)
{
    return settled(cuMemcpy2DAsync_v2(copy, CU_STREAM_PER_THREAD));
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *copy)
{
    return settled(cuMemcpy2DAsync_v2(copy, CU_STREAM_PER_THREAD));
}

CUresult cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value, size_t count)
{
    return cuMemsetD8Async(to, value, count, CU_STREAM_PER_THREAD);
}

CUresult cuMemsetD16_v2_ptds(CUdeviceptr to, unsigned short value, size_t count)
{
    return cuMemsetD16Async(to, value, count, CU_STREAM_PER_THREAD);
}

CUresult cuMemsetD32_v2_ptds(CUdeviceptr to, unsigned value, size_t count)
{
    return cuMemsetD32Async(to, value, count, CU_STREAM_PER_THREAD);
}

CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                              size_t height)
{
    return cuMemsetD2D8Async(to, pitch, value, width, height, CU_STREAM_PER_THREAD);
}

CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                               size_t height)
{
    return cuMemsetD2D16Async(to, pitch, value, width, height, CU_STREAM_PER_THREAD);
}

CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                               size_t height)
{
    return cuMemsetD2D32Async(to, pitch, value, width, height, CU_STREAM_PER_THREAD);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **pointers,
                               void **extra)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    CUlaunchConfig own = *config;
    own.stream = of_thread(own.stream);
    return cuLaunchKernelEx(&own, function, pointers, extra);
}
