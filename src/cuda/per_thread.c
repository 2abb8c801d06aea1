/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * per_thread.c: the same functions for programs that are compiled so that the null stream is each
 * thread's own (CUDA_API_PER_THREAD_DEFAULT_STREAM). A form _ptsz puts the thread's stream in place
 * of the null stream and calls the symbol. A form _ptds calls the asynchronous function with the
 * thread's stream, and waits where the symbol waits. cuda.def says what each of them calls.
 */
#include "cuda/exports.h"

/* Where the symbol returns only when its work is done. The host's memory is read behind all that
 * the stream holds, as the symbol reads it. */
#define SETTLED(call) (cuStreamSynchronize(stream) ?: (call) ?: cuStreamSynchronize(stream))

#define CU_FUNCTION(name, suffix, since, parameters)
#define CU_STREAM(name, suffix, since, parameters, arguments)                                      \
    CUresult name##suffix##_ptsz parameters                                                        \
    {                                                                                              \
        stream = stream ? stream : CU_STREAM_PER_THREAD;                                           \
        return name##suffix arguments;                                                             \
    }
#define CU_NULL_STREAM(name, suffix, since, parameters, call)                                      \
    CUresult name##suffix##_ptds parameters                                                        \
    {                                                                                              \
        CUstream stream = CU_STREAM_PER_THREAD;                                                    \
        return call;                                                                               \
    }
#include "cuda/cuda.def"

/* Its stream is a field. */
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **pointers,
                               void **extra)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    CUlaunchConfig own = *config;
    own.stream = own.stream ? own.stream : CU_STREAM_PER_THREAD;
    return cuLaunchKernelEx(&own, function, pointers, extra);
}
