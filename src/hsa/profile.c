/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * profile.c: when kernels and copies began and ended. All signals keep it from the moment on when
 * the program first asks for that of any queue, or of copies: the begin is when the operation was
 * issued, the end when it was known here. Both are of this host's clock, in nanoseconds.
 */
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/signal_times.h"

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !queue)
        status = HSA_STATUS_ERROR_INVALID_QUEUE;
    if (status == HSA_STATUS_SUCCESS && enable)
        times_keep();
    return api_end(&call, status);
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && enable)
        times_keep();
    return api_end(&call, status);
}

/* Errors: INVALID_SIGNAL; ERROR (nothing that it is the signal of has ended). */
static hsa_status_t times_of(hsa_signal_t handle, hsa_amd_profiling_dispatch_time_t *times)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)handle.handle;

    if (!times)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!signal)
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    uint64_t end = __atomic_load_n(&signal->end_ts, __ATOMIC_ACQUIRE);
    uint64_t start = __atomic_load_n(&signal->start_ts, __ATOMIC_ACQUIRE);
    if (end == 0 || start == 0)
        return HSA_STATUS_ERROR;
    *times = (hsa_amd_profiling_dispatch_time_t){start, end};
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t *time)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !gpu_of(agent))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (status == HSA_STATUS_SUCCESS)
        status = times_of(signal, time);
    return api_end(&call, status);
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal,
                                                   hsa_amd_profiling_async_copy_time_t *time)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS)
        status = times_of(signal, time);
    return api_end(&call, status);
}

hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t tick,
                                                             uint64_t *system_tick)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !agent_exists(agent))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (status == HSA_STATUS_SUCCESS && !system_tick)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS)
        *system_tick = tick;
    return api_end(&call, status);
}
