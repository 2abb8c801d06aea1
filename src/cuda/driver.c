/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * driver.c: the first cuInit() starts omprma and looks for GPUs; later ones return what that has
 * said. Nothing else starts it: a program may ask for the version, or for functions by name, and
 * its children, who can begin by themselves, have the GPUs. A child that is forked after the start
 * has none, as with the driver; nothing in it is initialised, and cannot be. Each exported function
 * stands between api_begin*() and api_end(), which enter and leave the gate, so that the end of the
 * process can wait for those that are inside. The destructor stops the threads of ours first, then
 * closes the gate, then ends omprma. The exit hook (face/ending.h) has the same done where the
 * destructor would come too late.
 */
#include "cuda/driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <omprma/omprma.h>

#include "cuda/context.h"
#include "cuda/exports.h"
#include "cuda/gpu.h"
#include "cuda/result.h"
#include "cuda/stream.h"
#include "cuda/thread.h"
#include "face/driver/host_call.h"
#include "face/ending.h"
#include "face/gate.h"

static struct driver {
    pthread_once_t once;
    atomic_bool started; /* set inside once, when all went well */
    bool init_done;      /* omprma_init() has succeeded */
    CUresult result;     /* written inside once */
    pid_t pid;           /* of the process that started omprma: a forked child must not end it */
    atomic_bool forked;  /* this process is its child */
} driver = {.once = PTHREAD_ONCE_INIT, .result = CUDA_ERROR_NOT_INITIALIZED};

/* The thread of host calls goes first: it is inside omprma. */
__attribute__((destructor)) static void driver_end(void)
{
    if (!driver.init_done || driver.pid != getpid() || gate_closed())
        return;
    host_calls_end();
    if (gate_close())
        omprma_finalize();
}

/* In the child. */
static void forget_parent(void)
{
    atomic_store(&driver.started, false);
    atomic_store(&driver.forked, true);
}

/* Once per process, for it may call on: programs see "not initialised", whose reason is not in
 * them. */
static CUresult not_initialized(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    if (atomic_load(&driver.forked) && !atomic_flag_test_and_set(&told))
        report_error("this process was forked by one that uses GPUs, and cannot use them: CUDA "
                     "returns CUDA_ERROR_NOT_INITIALIZED (3) here; fork before the first call of "
                     "CUDA, or start a new process (Python: the start method \"spawn\")");
    return CUDA_ERROR_NOT_INITIALIZED;
}

static void start_once(void)
{
    static struct ending ending = {.call = driver_end};
    pthread_atfork(NULL, NULL, forget_parent);
    if (!gate_open() || !thread_open()) {
        report_error("no key for data of threads is left in this process");
        driver.result = CUDA_ERROR_OPERATING_SYSTEM;
        return;
    }
    ending_add(&ending);
    omprma_status_t status = omprma_init();
    if (status != OMPRMA_OK) {
        driver.result = result_of(NULL, status);
        return;
    }
    driver.init_done = true;
    driver.pid = getpid();
    driver.result = gpus_find();
    if (driver.result == CUDA_SUCCESS)
        atomic_store(&driver.started, true);
}

CUresult driver_start(void)
{
    if (atomic_load_explicit(&driver.started, memory_order_acquire))
        return gate_closed() ? CUDA_ERROR_DEINITIALIZED : CUDA_SUCCESS;
    if (atomic_load(&driver.forked))
        return not_initialized();
    pthread_once(&driver.once, start_once);
    return driver.result;
}

/* ---- calls ---------------------------------------------------------------------------------- */

CUresult api_begin_bare(struct call *call)
{
    *call = (struct call){0};
    if (!atomic_load_explicit(&driver.started, memory_order_acquire))
        return not_initialized();
    call->inside = gate_enter();
    if (!call->inside)
        return CUDA_ERROR_DEINITIALIZED;
    return host_call_running() ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
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
        gate_leave();
    return result;
}

/* ---- exported ------------------------------------------------------------------------------- */

CUresult cuInit(unsigned flags)
{
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return driver_start();
}

/* May be called before cuInit(), and is by the CUDA runtime. Which drivers there are is not known
 * then, and finding out would start everything: it is the version that this library is made for. */
CUresult cuDriverGetVersion(int *version)
{
    enum { MADE_FOR = 12090 };
    int known = gpus_driver_version();

    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = known ? known : MADE_FOR;
    return CUDA_SUCCESS;
}
