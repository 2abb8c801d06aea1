/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* profiler.c: programs mark what a profiler is to look at. There is none, and that is no error. */
#include "cuda/driver.h"
#include "cuda/exports.h"

static CUresult nothing(void)
{
    struct call call;

    return api_end(&call, api_begin(&call));
}

CUresult cuProfilerInitialize(const char *settings, const char *output, int mode)
{
    (void)settings, (void)output, (void)mode;
    return nothing();
}

CUresult cuProfilerStart(void)
{
    return nothing();
}

CUresult cuProfilerStop(void)
{
    return nothing();
}
