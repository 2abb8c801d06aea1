/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * refused.c: what cannot be had of a GPU in another process: memory that host and device share,
 * kernels of one GPU in another's memory, address space without memory, kernels whose blocks wait
 * for each other. Attributes of the device say so beforehand (gpu.c). Each name is there because
 * runtimes look it up before they know whether they need it. The rows CU_REFUSED of cuda.def are
 * the functions that do nothing else.
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

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter" /* they look at none */
#define CU_FUNCTION(name, suffix, since, parameters)
#define CU_REFUSED(name, suffix, since, parameters)                                                \
    CUresult name##suffix parameters                                                               \
    {                                                                                              \
        return refuse(#name);                                                                      \
    }
#include "cuda/cuda.def"
#pragma GCC diagnostic pop

/* ---- peers ---------------------------------------------------------------------------------- */

static CUresult answer(CUresult usual)
{
    struct call call;
    CUresult result = api_begin(&call);

    return api_end(&call, result == CUDA_SUCCESS ? usual : result);
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    (void)peer, (void)flags;
    return answer(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    (void)peer;
    return answer(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}
