/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pool_info.c: Pools and regions as programs come upon them: one by one, and by attributes. */
#include "hsa/about.h"
#include "hsa/answers.h"
#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/handles.h"

/* The number of the agent. False: there is none. */
static bool agent_number(hsa_agent_t agent, unsigned *number)
{
    unsigned index;

    return handle_read(agent.handle, HANDLE_OF_AGENT, number, &index) && agent_exists(agent);
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                                hsa_amd_memory_pool_callback_t callback, void *data)
{
    struct call call;
    unsigned number;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !callback)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !agent_number(agent, &number))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    for (unsigned i = 0; status == HSA_STATUS_SUCCESS && i < (number ? GPU_POOLS : HOST_POOLS); i++)
        status = callback((hsa_amd_memory_pool_t){handle_make(HANDLE_OF_POOL, number, i)}, data);
    return api_end(&call, status);
}

hsa_status_t hsa_agent_iterate_regions(hsa_agent_t agent, hsa_region_callback_t callback,
                                       void *data)
{
    struct call call;
    unsigned number;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !callback)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !agent_number(agent, &number))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    for (unsigned i = 0; status == HSA_STATUS_SUCCESS && i < (number ? GPU_REGIONS : HOST_POOLS);
         i++)
        status = callback((hsa_region_t){handle_make(HANDLE_OF_REGION, number, i)}, data);
    return api_end(&call, status);
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool,
                                          hsa_amd_memory_pool_info_t attribute, void *value)
{
    struct call call;
    struct about about = {0};
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !pool_of(pool, &about.pool))
        status = HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    if (status == HSA_STATUS_SUCCESS)
        status = answer(ANSWER_OF_POOL, &about, attribute, value);
    return api_end(&call, status);
}

hsa_status_t hsa_region_get_info(hsa_region_t region, hsa_region_info_t attribute, void *value)
{
    struct call call;
    struct about about = {0};
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !pool_of_region(region, &about.pool))
        status = HSA_STATUS_ERROR_INVALID_REGION;
    if (status == HSA_STATUS_SUCCESS)
        status = answer(ANSWER_OF_REGION, &about, attribute, value);
    return api_end(&call, status);
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t pool,
                                                hsa_amd_agent_memory_pool_info_t attribute,
                                                void *value)
{
    struct call call;
    struct about about = {.gpu = gpu_of(agent)};
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !agent_exists(agent))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (status == HSA_STATUS_SUCCESS && !pool_of(pool, &about.pool))
        status = HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    if (status == HSA_STATUS_SUCCESS)
        status = answer(ANSWER_OF_LINK, &about, attribute, value);
    return api_end(&call, status);
}

hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t from, hsa_amd_memory_pool_t to,
                                             bool *result)
{
    struct call call;
    struct pool pool;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !result)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !(pool_of(from, &pool) && pool_of(to, &pool)))
        status = HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    if (status == HSA_STATUS_SUCCESS)
        *result = false;
    return api_end(&call, status);
}
