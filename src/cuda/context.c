/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * context.c: a context holds streams, modules and memory of one GPU. Destroying one waits for its
 * streams, frees what it holds and marks it as not alive, but keeps the structure: calls with it
 * return CONTEXT_IS_DESTROYED for ever. The primary context is counted, and made once per GPU. It
 * lives again when somebody retains it anew.
 */
#include "cuda/context.h"

#include <stdlib.h>

#include "cuda/driver.h"
#include "cuda/exports.h"
#include "cuda/memory.h"
#include "cuda/module.h"
#include "cuda/remote.h"
#include "cuda/result.h"
#include "cuda/stream.h"
#include "cuda/thread.h"

static struct contexts {
    pthread_mutex_t lock;
    SLIST_HEAD(context_list, context) all;
    uint64_t count;
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct context *context_make(struct gpu *gpu, unsigned flags)
{
    struct context *context = calloc(1, sizeof(*context));

    if (!context)
        return NULL;
    context->tag = CONTEXT_TAG;
    context->flags = flags;
    context->gpu = gpu;
    pthread_mutex_init(&context->lock, NULL);
    atomic_store(&context->alive, true);
    pthread_mutex_lock(&contexts.lock);
    context->number = ++contexts.count;
    SLIST_INSERT_HEAD(&contexts.all, context, link);
    pthread_mutex_unlock(&contexts.lock);
    return context;
}

void context_clear(struct context *context)
{
    streams_clear(context);
    modules_clear(context);
    memory_clear(context);
    atomic_store(&context->alive, false);
}

CUresult context_check(struct context *context)
{
    return context && context->tag == CONTEXT_TAG ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult context_usable(struct context *context)
{
    if (!atomic_load(&context->alive))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return atomic_load(&context->gpu->lost);
}

CUresult context_settle(struct context *context)
{
    return streams_settle(context);
}

/* Contexts are never taken out, and new ones come in front. */
CUresult contexts_settle(void)
{
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&contexts.lock);
    struct context *each = SLIST_FIRST(&contexts.all);
    pthread_mutex_unlock(&contexts.lock);
    for (; each; each = SLIST_NEXT(each, link)) {
        CUresult ended = context_usable(each) == CUDA_SUCCESS ? context_settle(each) : CUDA_SUCCESS;
        if (result == CUDA_SUCCESS)
            result = ended;
    }
    return result;
}

/* ---- created contexts ----------------------------------------------------------------------- */

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    struct call call;
    CUresult result = api_begin_bare(&call);
    struct gpu *gpu = result == CUDA_SUCCESS ? gpu_at(device) : NULL;

    if (result == CUDA_SUCCESS && (!context || (flags & ~(unsigned)CU_CTX_FLAGS_MASK)))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !gpu)
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result == CUDA_SUCCESS)
        result = atomic_load(&gpu->lost);
    if (result == CUDA_SUCCESS) {
        struct context *made = context_make(gpu, flags);
        if (!made || !thread_push(made))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        else
            *context = made;
    }
    return api_end(&call, result);
}

CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device)
{
    return cuCtxCreate_v2(context, flags, device);
}

/* The same with limits on multiprocessors, which are not served. */
CUresult cuCtxCreate_v3(CUcontext *context, const void *affinity, int count, unsigned flags,
                        CUdevice device)
{
    if (affinity && count > 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *context, const void *parameters, unsigned flags, CUdevice device)
{
    if (parameters)
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS)
        result = context_check(context);
    if (result == CUDA_SUCCESS && context == context->gpu->primary)
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS && !atomic_load(&context->alive))
        result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (result == CUDA_SUCCESS) {
        context_clear(context);
        thread_forget(context);
    }
    return api_end(&call, result);
}

CUresult cuCtxDestroy(CUcontext context)
{
    return cuCtxDestroy_v2(context);
}

/* ---- the primary context -------------------------------------------------------------------- */

static CUresult primary_begin(struct call *call, CUdevice device, struct gpu **gpu)
{
    CUresult result = api_begin_bare(call);
    if (result != CUDA_SUCCESS)
        return result;
    *gpu = gpu_at(device);
    if (!*gpu)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&(*gpu)->primary_lock);
    return CUDA_SUCCESS;
}

static CUresult primary_end(struct call *call, struct gpu *gpu, CUresult result)
{
    if (gpu)
        pthread_mutex_unlock(&gpu->primary_lock);
    return api_end(call, result);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    struct call call;
    struct gpu *gpu = NULL;
    CUresult result = primary_begin(&call, device, &gpu);

    if (result == CUDA_SUCCESS && !context)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !gpu->primary) {
        gpu->primary = context_make(gpu, gpu->primary_flags);
        if (!gpu->primary)
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS) {
        gpu->primary_references++;
        atomic_store(&gpu->primary->alive, true);
        *context = gpu->primary;
    }
    return primary_end(&call, gpu, result);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    struct call call;
    struct gpu *gpu = NULL;
    CUresult result = primary_begin(&call, device, &gpu);

    if (result == CUDA_SUCCESS && gpu->primary_references == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS && --gpu->primary_references == 0)
        context_clear(gpu->primary);
    return primary_end(&call, gpu, result);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    return cuDevicePrimaryCtxRelease_v2(device);
}

/* Who has it keeps it, and finds it empty. */
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    struct call call;
    struct gpu *gpu = NULL;
    CUresult result = primary_begin(&call, device, &gpu);

    if (result == CUDA_SUCCESS && gpu->primary) {
        context_clear(gpu->primary);
        atomic_store(&gpu->primary->alive, gpu->primary_references > 0);
    }
    return primary_end(&call, gpu, result);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    return cuDevicePrimaryCtxReset_v2(device);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    struct call call;
    struct gpu *gpu = NULL;
    CUresult result = primary_begin(&call, device, &gpu);

    if (result == CUDA_SUCCESS && (flags & ~(unsigned)CU_CTX_FLAGS_MASK))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        gpu->primary_flags = flags;
        if (gpu->primary)
            gpu->primary->flags = flags;
    }
    return primary_end(&call, gpu, result);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    struct call call;
    struct gpu *gpu = NULL;
    CUresult result = primary_begin(&call, device, &gpu);

    if (result == CUDA_SUCCESS && (!flags || !active))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        *flags = gpu->primary_flags;
        *active = gpu->primary_references > 0;
    }
    return primary_end(&call, gpu, result);
}

/* ---- the current context -------------------------------------------------------------------- */

CUresult cuCtxSetCurrent(CUcontext context)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS && context)
        result = context_check(context);
    if (result == CUDA_SUCCESS && !thread_set(context))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    return api_end(&call, result);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS && !context)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *context = thread_context();
    return api_end(&call, result);
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS)
        result = context_check(context);
    if (result == CUDA_SUCCESS && !thread_push(context))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    return api_end(&call, result);
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    return cuCtxPushCurrent_v2(context);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    struct call call;
    CUresult result = api_begin_lost(&call);

    if (result == CUDA_SUCCESS) {
        struct context *was = thread_pop();
        if (context)
            *context = was;
    }
    return api_end(&call, result);
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    return cuCtxPopCurrent_v2(context);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    struct call call;
    CUresult result = api_begin_lost(&call);

    if (result == CUDA_SUCCESS && !device)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *device = call.context->gpu->ordinal;
    return api_end(&call, result);
}

CUresult cuCtxGetFlags(unsigned *flags)
{
    struct call call;
    CUresult result = api_begin_lost(&call);

    if (result == CUDA_SUCCESS && !flags)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *flags = call.context->flags;
    return api_end(&call, result);
}

/* The context that a handle stands for; NULL is the current one. */
static CUresult context_named(struct call *call, CUcontext *context)
{
    if (*context)
        return context_check(*context);
    *context = call->context;
    return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *number)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    call.context = thread_context();
    if (result == CUDA_SUCCESS)
        result = context_named(&call, &context);
    if (result == CUDA_SUCCESS && !number)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *number = context->number;
    return api_end(&call, result);
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    enum { VERSION_OF_CONTEXTS = 3020 };
    struct call call;
    CUresult result = api_begin_bare(&call);

    call.context = thread_context();
    if (result == CUDA_SUCCESS)
        result = context_named(&call, &context);
    if (result == CUDA_SUCCESS && !version)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *version = VERSION_OF_CONTEXTS;
    return api_end(&call, result);
}

CUresult cuCtxSynchronize(void)
{
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS)
        result = context_settle(call.context);
    return api_end(&call, result);
}

/* ---- what a context has of a device --------------------------------------------------------- */

CUresult cuCtxGetLimit(size_t *value, int limit)
{
    struct call call;
    CUresult result = api_begin(&call);
    uint64_t answer;

    if (result == CUDA_SUCCESS && !value)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = result_of(call.context->gpu,
                           remote_limit_get(call.context->gpu->device, limit, &answer));
    if (result == CUDA_SUCCESS)
        *value = answer;
    return api_end(&call, result);
}

CUresult cuCtxSetLimit(int limit, size_t value)
{
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS)
        result =
            result_of(call.context->gpu, remote_limit_set(call.context->gpu->device, limit, value));
    return api_end(&call, result);
}

/* There is one priority. */
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS && least)
        *least = 0;
    if (result == CUDA_SUCCESS && greatest)
        *greatest = 0;
    return api_end(&call, result);
}

/* Caches and banks of shared memory are preferences, which the driver may disregard. */
CUresult cuCtxSetCacheConfig(int config)
{
    struct call call;
    CUresult result = api_begin(&call);

    (void)config;
    return api_end(&call, result);
}

CUresult cuCtxGetCacheConfig(int *config)
{
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS && !config)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *config = 0;
    return api_end(&call, result);
}

CUresult cuCtxSetSharedMemConfig(int config)
{
    return cuCtxSetCacheConfig(config);
}

CUresult cuCtxGetSharedMemConfig(int *config)
{
    return cuCtxGetCacheConfig(config);
}
