/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* signal_create.c: signals that the program makes, and where their values are. */
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/signal.h"

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t value, uint32_t consumers_count,
                                   const hsa_agent_t *consumers, uint64_t attributes,
                                   hsa_signal_t *handle)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && (!handle || (consumers_count > 0 && !consumers)))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && attributes & HSA_AMD_SIGNAL_IPC)
        status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (status == HSA_STATUS_SUCCESS) {
        struct signal *signal = signal_make(value);
        if (signal)
            *handle = signal_handle(signal);
        else
            status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    return api_end(&call, status);
}

hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t consumers_count,
                               const hsa_agent_t *consumers, hsa_signal_t *handle)
{
    return hsa_amd_signal_create(value, consumers_count, consumers, 0, handle);
}

/* Programs destroy them after hsa_shut_down(), too. */
hsa_status_t hsa_signal_destroy(hsa_signal_t handle)
{
    struct signal *signal = signal_of(handle);

    if (!signal || signal->rings)
        return HSA_STATUS_ERROR_INVALID_SIGNAL;
    signal_free(signal);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t handle, volatile hsa_signal_value_t **value)
{
    struct signal *signal = signal_of(handle);

    if (!signal || !value)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *value = &signal->amd.value;
    return HSA_STATUS_SUCCESS;
}
