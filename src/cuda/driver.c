/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * driver.c: the first cuInit() starts omprma and looks for GPUs; later ones return what that has
 * said. Nothing else starts it (face/driver/guard.h). Each exported function stands between
 * api_begin*() and api_end().
 */
#include "cuda/driver.h"

#include <pthread.h>
#include <stdatomic.h>

#include <omprma/omprma.h>

#include "cuda/context.h"
#include "cuda/exports.h"
#include "cuda/gpu.h"
#include "cuda/result.h"
#include "cuda/stream.h"
#include "cuda/thread.h"
#include "face/driver/guard.h"

static struct driver {
    pthread_once_t once;
    CUresult result; /* written inside once */
} driver = {.once = PTHREAD_ONCE_INIT, .result = CUDA_ERROR_NOT_INITIALIZED};

/* Once per process, for it may call on: programs see "not initialised", whose reason is not in
 * them. */
static CUresult not_initialized(enum guard state)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    if (state == GUARD_FORKED && !atomic_flag_test_and_set(&told))
        report_error("this process was forked by one that uses GPUs, and cannot use them: CUDA "
                     "returns CUDA_ERROR_NOT_INITIALIZED (3) here; fork before the first call of "
                     "CUDA, or start a new process (Python: the start method \"spawn\")");
    return CUDA_ERROR_NOT_INITIALIZED;
}

static void start_once(void)
{
    if (!thread_open()) {
        report_error("no key for data of threads is left in this process");
        driver.result = CUDA_ERROR_OPERATING_SYSTEM;
        return;
    }
    omprma_status_t status = guard_start();
    driver.result = status == OMPRMA_OK ? gpus_find() : result_of(NULL, status);
    if (driver.result == CUDA_SUCCESS)
        guard_open();
}

CUresult driver_start(void)
{
    enum guard state = guard_look();

    if (state == GUARD_OPEN || state == GUARD_ENDED)
        return state == GUARD_OPEN ? CUDA_SUCCESS : CUDA_ERROR_DEINITIALIZED;
    if (state == GUARD_FORKED)
        return not_initialized(state);
    if (state == GUARD_STARTING)
        return CUDA_ERROR_NO_DEVICE;
    pthread_once(&driver.once, start_once);
    return driver.result;
}

/* ---- calls ---------------------------------------------------------------------------------- */

CUresult api_begin_bare(struct call *call)
{
    enum guard state = guard_enter();

    *call = (struct call){.inside = state == GUARD_OPEN || state == GUARD_IN_HOST_CALL};
    switch (state) {
    case GUARD_OPEN:
        return CUDA_SUCCESS;
    case GUARD_IN_HOST_CALL:
        return CUDA_ERROR_NOT_PERMITTED;
    case GUARD_ENDED:
        return CUDA_ERROR_DEINITIALIZED;
    default:
        return not_initialized(state);
    }
}

CUresult api_begin_lost(struct call *call)
{
    CUresult result = api_begin_bare(call);
    if (result != CUDA_SUCCESS)
        return result;
    call->context = thread_context();
    return call->context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult api_begin(struct call *call)
{
    CUresult result = api_begin_lost(call);
    if (result != CUDA_SUCCESS)
        return result;
    return context_usable(call->context);
}

CUresult api_begin_stream(struct call *call, CUstream stream)
{
    CUresult result = api_begin_bare(call);
    if (result != CUDA_SUCCESS)
        return result;
    result = stream_context(stream, &call->context);
    return result == CUDA_SUCCESS ? context_usable(call->context) : result;
}

CUresult api_end(struct call *call, CUresult result)
{
    if (call->inside)
        guard_leave();
    return result;
}

/* ---- exported ------------------------------------------------------------------------------- */

CUresult cuInit(unsigned flags)
{
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return driver_start();
}

/* May be called before cuInit(), and is by the CUDA runtime, which goes no further where it is
 * newer. Which drivers there are is not known then, and finding out would start everything: it is
 * the newest version that is known. */
CUresult cuDriverGetVersion(int *version)
{
    enum { NEWEST = 13000 };
    int known = gpus_driver_version();

    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = known ? known : NEWEST;
    return CUDA_SUCCESS;
}
