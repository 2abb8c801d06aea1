/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy_engine.c: engines that copy beside kernels. Copies here go over a network, and the program
 * has none to choose from: a mask without any is an answer that HIP takes.
 */
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"

static hsa_status_t engines(hsa_agent_t to, hsa_agent_t from, uint32_t *mask)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !mask)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !(agent_exists(to) && agent_exists(from)))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (status == HSA_STATUS_SUCCESS)
        *mask = 0;
    return api_end(&call, status);
}

hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t to, hsa_agent_t from, uint32_t *mask)
{
    return engines(to, from, mask);
}

hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t to, hsa_agent_t from,
                                                      uint32_t *mask)
{
    return engines(to, from, mask);
}
