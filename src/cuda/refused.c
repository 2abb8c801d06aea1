/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * refused.c: what is not served (refused.def): what cannot be had of a GPU in another process, as
 * memory that host and device share, kernels of one GPU in another's memory, or address space
 * without memory, and what nobody has needed. Attributes of the device say so beforehand (gpu.c).
 */
#include <stdatomic.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/result.h"

static CUresult refuse(const char *symbol, atomic_flag *told)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS) {
        if (!atomic_flag_test_and_set(told))
            report_choice("%s is not served on GPUs of workers, and returns "
                          "CUDA_ERROR_NOT_SUPPORTED (801)",
                          symbol);
        result = CUDA_ERROR_NOT_SUPPORTED;
    }
    return api_end(&call, result);
}

#define CU_FUNCTION(name, suffix, since, parameters)
#define CU_REFUSED(symbol)                                                                         \
    CUresult symbol(void)                                                                          \
    {                                                                                              \
        static atomic_flag told = ATOMIC_FLAG_INIT;                                                \
        return refuse(#symbol, &told);                                                             \
    }
#include "cuda/cuda.def"

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
